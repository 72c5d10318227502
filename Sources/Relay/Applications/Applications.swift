import FoundationEssentials
import Glibc
import HeliographAPI
import NIOCore
import NIOPosix
import Program
import Wire

/// The applications that callers have launched on a device's desktop. Its agents launch and end them.
@MediaLoop
final class Applications {
    /// An application that was launched.
    struct Application: Sendable {
        /// 64 random bits as hexadecimal digits, so that no other relay's application has it.
        let id: String
        /// The name in the configuration, or the id of a desktop file.
        let name: String
        let started: Date
        fileprivate(set) var process: ProcessIdentity?
        /// The user id of its processes; `nil` if no agent has reported it.
        fileprivate(set) var user: UInt32?
        /// Whether the agent has not answered its launch yet.
        fileprivate(set) var isLaunching: Bool
        /// Whether none of its processes runs any more.
        fileprivate(set) var hasEnded = false
        fileprivate(set) var status: Int?
        fileprivate(set) var signal: Int?

        fileprivate var launched: LaunchedProcess { LaunchedProcess(id: id, process: process) }
        /// Whether the relay can see all its processes. It cannot read the mark of another user's.
        fileprivate var isVisible: Bool { geteuid() == 0 || user == geteuid() }
    }

    /// How an order ends.
    enum Outcome: Sendable, Equatable {
        case done
        case refused(ApplicationAnswer.Refusal, detail: String)
        /// No agent is linked, or its link was lost.
        case lost
        case timeout
    }

    private struct Pending {
        let role: AgentRole
        let waiters: Waiters<ApplicationAnswer?>
    }

    /// The most applications of a device that run at a time.
    static let maximumCount = 32
    /// The most that have ended and are still listed.
    private static let maximumEnded = 32
    /// How long an agent may take, besides the time that a launch waits for a window.
    static let answerTime = TimeAmount.seconds(5)
    /// How long an agent may take to end applications.
    private static let endTime = TimeAmount.seconds(9)
    /// How long all agents together may take. The relay itself then needs 2 s at most.
    private static let totalEndTime = TimeAmount.seconds(10)
    /// The last id of an order, of all devices: an id is used once per link.
    private static var lastID: UInt32 = 0

    private let device: String
    /// Sends a packet to the agent of a role, if it is linked.
    private let tell: @MediaLoop (Packet, AgentRole) -> Bool
    private var pending: [UInt32: Pending] = [:]
    private var applications: [Application] = []
    /// The number of calls that end everything.
    private var endings = 0
    /// The number of those calls whose applications have not ended yet.
    private var pendingEndings = 0

    init(device: String, tell: @escaping @MediaLoop (Packet, AgentRole) -> Bool) {
        self.device = device
        self.tell = tell
    }

    /// All that are known, the oldest first.
    var all: [Application] { applications }

    /// Whether applications may be launched: not while all are ended.
    var isOpen: Bool { endings == 0 }

    /// Whether all applications are being ended.
    var isEnding: Bool { pendingEndings > 0 }

    subscript(id: String) -> Application? { applications.first { $0.id == id } }

    // MARK: Launch

    /// Adds an application to the list, before it is launched.
    ///
    /// - Returns: `nil` if too many run.
    func add(_ name: String) async -> Application? {
        if applications.count(where: { !$0.hasEnded }) >= Self.maximumCount { await look() }
        guard applications.count(where: { !$0.hasEnded }) < Self.maximumCount else { return nil }
        let id = String(UInt64.random(in: .min ... .max), radix: 16).zeroPadded(to: 16)
        let application = Application(id: id, name: name, started: Date(), isLaunching: true)
        applications.append(application)
        return application
    }

    /// Has an agent launch an application. One that fails, or has no window in time, is ended and forgotten.
    func launch(_ application: Application, _ launch: ApplicationLaunch, by role: AgentRole) async -> Outcome {
        let limit = Self.answerTime + .milliseconds(Int64(launch.windowTime ?? 0))
        let outcome = await perform(.launch, [application], launch, by: role, within: limit)
        let isLaunched = outcome == .done && isOpen
        if let place = applications.firstIndex(where: { $0.id == application.id }) {
            applications[place].isLaunching = false
            // An order to end it may have been carried out before the program was started.
            if !isLaunched { applications[place].hasEnded = false }
        }
        if isLaunched { return outcome }
        await end([application.id])
        applications.removeAll { $0.id == application.id }
        return outcome == .done ? .refused(.failed, detail: "The broadcast was stopped.") : outcome
    }

    // MARK: Look, focus and end

    /// Asks how the applications are that have not ended.
    func look() async {
        let open = applications.filter { !$0.hasEnded && !$0.isLaunching }
        guard !open.isEmpty else { return }
        var isAnswered = false
        for role in AgentRole.allCases {
            // The second agent is asked about those that have ended, because it may have launched them and know how.
            let unknown = applications.filter { application in
                open.contains { $0.id == application.id } && application.status == nil && application.signal == nil
                    && (!isAnswered || application.hasEnded)
            }
            guard !unknown.isEmpty else { continue }
            if await perform(.look, unknown, by: role, within: Self.answerTime) == .done { isAnswered = true }
        }
        if !isAnswered { await lookAlone(open) }
    }

    func focus(_ application: Application, by role: AgentRole) async -> Outcome {
        await perform(.focus, [application], by: role, within: Self.answerTime)
    }

    /// Ends applications, and returns how that went.
    ///
    /// Any agent of the device can do it. Without one, the relay does it by itself, which succeeds if they are of its
    /// own user. Takes about 12 s at most.
    @discardableResult
    func end(_ ids: [String]) async -> Outcome {
        let ended = applications.filter { ids.contains($0.id) && !$0.hasEnded }
        guard !ended.isEmpty else { return .done }
        let deadline = NIODeadline.now() + Self.totalEndTime
        var failure = Outcome.refused(
            .failed,
            detail: "no agent is linked, and the processes belong to another user"
        )
        for role in AgentRole.allCases {
            let limit = min(Self.endTime, deadline - .now())
            let outcome = await perform(.terminate, ended, by: role, within: limit)
            switch outcome {
            case .done, .refused(.failed, _): return outcome
            case .refused, .timeout: failure = outcome
            case .lost: continue
            }
        }
        // Also those of an unknown user: an agent that was lost during a launch has not reported its user.
        let launched = ended.filter { $0.user == nil || $0.isVisible }.map(\.launched)
        _ = try? await NIOThreadPool.singleton.runIfActive {
            let processes = launched.map { ApplicationProcesses(id: $0.id, first: $0.process) }
            return ApplicationProcesses.end(processes) { NIODeadline.now() >= deadline }
        }
        await lookAlone(ended)
        let left = applications.filter { ids.contains($0.id) && !$0.hasEnded }
        if left.isEmpty { return .done }
        guard left.allSatisfy(\.isVisible) else { return failure }
        return .refused(.failed, detail: "Processes of the application do not end.")
    }

    /// Ends all applications, and prevents launches until `body` has ended.
    func endAll(before body: @MediaLoop () async -> Void) async {
        endings += 1
        pendingEndings += 1
        await end(applications.map(\.id))
        pendingEndings -= 1
        await body()
        endings -= 1
    }

    // MARK: Orders

    private func perform(
        _ kind: ApplicationOrder.Kind,
        _ applications: [Application],
        _ launch: ApplicationLaunch? = nil,
        by role: AgentRole,
        within limit: TimeAmount
    ) async -> Outcome {
        Self.lastID &+= 1
        let order = ApplicationOrder(
            order: Self.lastID,
            kind: kind,
            applications: applications.map(\.launched),
            launch: launch
        )
        let waiters = Waiters<ApplicationAnswer?>()
        let ticket = waiters.ticket()
        pending[order.order] = Pending(role: role, waiters: waiters)
        defer { pending[order.order] = nil }
        guard tell(.application(order), role) else { return .lost }
        guard let ending = await waiters.wait(ticket, until: .now() + limit) else { return .timeout }
        guard let answer = ending else { return .lost }
        record(answer.applications.filter { state in applications.contains { $0.id == state.id } })
        return answer.refusal.map { .refused($0, detail: answer.detail ?? "") } ?? .done
    }

    /// Records an agent's answer.
    ///
    /// - Returns: Whether it is the answer to an order of that agent.
    func received(_ answer: ApplicationAnswer, from role: AgentRole) -> Bool {
        guard let order = pending[answer.order], order.role == role else { return false }
        order.waiters.resume(with: answer)
        pending[answer.order] = nil
        return true
    }

    /// Records that an agent's link is lost, and its orders with it.
    func agentLost(_ role: AgentRole) {
        for (id, order) in pending where order.role == role {
            order.waiters.resume(with: nil)
            pending[id] = nil
        }
    }

    private func record(_ states: [ApplicationState]) {
        for state in states {
            guard let place = applications.firstIndex(where: { $0.id == state.id }) else { continue }
            if let process = state.process { applications[place].process = process }
            if let user = state.user { applications[place].user = user }
            applications[place].hasEnded = !state.isRunning
            if let status = state.status { applications[place].status = status }
            if let signal = state.signal { applications[place].signal = signal }
        }
        let surplus = Set(applications.filter(\.hasEnded).dropLast(Self.maximumEnded).map(\.id))
        applications.removeAll { surplus.contains($0.id) }
    }

    /// Looks at processes that the relay can see without an agent. The others' states stay as they are.
    private func lookAlone(_ looked: [Application]) async {
        let launched = looked.filter(\.isVisible).map(\.launched)
        guard !launched.isEmpty else { return }
        let running = try? await NIOThreadPool.singleton.runIfActive {
            launched.filter { ApplicationProcesses(id: $0.id, first: $0.process).areRunning }.map(\.id)
        }
        guard let running else { return }
        record(launched.map { ApplicationState(id: $0.id, isRunning: running.contains($0.id)) })
    }

    // MARK: The relay's next life

    /// What the next run of the relay needs to know.
    var kept: [RelayState.Application] {
        applications.filter { !$0.hasEnded }.map {
            RelayState.Application(
                device: device,
                id: $0.id,
                name: $0.name,
                started: $0.started,
                process: $0.process,
                user: $0.user
            )
        }
    }

    /// Continues with an application that a previous relay has launched.
    func restore(_ kept: RelayState.Application) {
        guard applications.count < Self.maximumCount else { return }
        applications.append(
            Application(
                id: kept.id,
                name: kept.name,
                started: kept.started,
                process: kept.process,
                user: kept.user,
                isLaunching: false
            )
        )
    }
}
