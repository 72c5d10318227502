import HeliographAPI
import NIOCore
import Wire

/// The orders that callers have a device's agents perform on its screen.
@MediaLoop
final class InputOrders {
    /// How an order ends.
    enum Outcome: Sendable, Equatable {
        /// The desktop got the first event just after `began`, and the last one just after `at`, monotonic ns.
        case done(began: UInt64, at: UInt64)
        case refused(InputReport.Refusal, step: Int, detail: String)
        /// The agent's link was lost.
        case lost
        case timeout
        case withdrawn(Withdrawal)

        /// The word for it in metrics.
        fileprivate var word: String {
            switch self {
            case .done: "done"
            case .refused(let refusal, _, _): refusal.word
            case .lost: "lost"
            case .timeout: "timeout"
            case .withdrawn: "withdrawn"
            }
        }
    }

    /// Why the relay does not wait for an order any more, and has everything released.
    enum Withdrawal: Sendable, Equatable {
        case takenOver(by: InputControl.Caller)
        /// Another agent feeds the device's sessions.
        case feedSwitched
        /// The relay has closed the caller's connection, because its key is revoked.
        case callerGone
    }

    private struct Pending {
        let role: AgentRole
        /// When it counts as lost.
        let deadline: NIODeadline
        /// Whether nobody wants it any more.
        let isAbandoned: @Sendable () -> Bool
        let end: @MediaLoop (Outcome) -> Void
    }

    /// The last id of an order, of all devices: an id is used once per link; see docs/reference/wire.md.
    private static var lastID: UInt32 = 0
    /// How long an agent may take, besides what the order itself takes.
    static let answerTime = TimeAmount.seconds(30)
    /// The most orders of calls that an agent has at once. It has room for 64, also for those of viewers.
    static let maximumWaiting = 8
    /// The most orders whose answers come although nobody waits for them.
    private static let maximumUnawaited = 256

    /// Sends a packet to the agent of a role.
    private let tell: @MediaLoop (Packet, AgentRole) -> Void
    private var pending: [UInt32: Pending] = [:]
    /// Orders whose answers nobody waits for.
    private var unawaited: [UInt32: AgentRole] = [:]
    /// The orders that have ended, by the word for how.
    private(set) var ended: [String: UInt64] = [:]

    init(tell: @escaping @MediaLoop (Packet, AgentRole) -> Void) { self.tell = tell }

    // MARK: Orders

    /// Has an agent perform steps, and returns how that ended.
    ///
    /// - Parameters:
    ///   - session: The session whose pixels places are; 0 for none.
    ///   - limit: How long the agent may take, once it has performed what it got before.
    ///   - isAbandoned: Whether the caller is gone. Everything is released then.
    func perform(
        _ order: LiveOrder,
        session: SessionID,
        by role: AgentRole,
        within limit: TimeAmount,
        isAbandoned: @escaping @Sendable () -> Bool = { false }
    ) async -> Outcome {
        let others = pending.values.filter { $0.role == role }
        guard others.count < Self.maximumWaiting else {
            return .refused(.busy, step: 0, detail: "\(others.count) calls wait for the agent")
        }
        let start = others.map(\.deadline).max() ?? .now()
        let waiters = Waiters<Outcome>()
        let ticket = waiters.ticket()
        send(order, session: session, to: role, by: start + limit, isAbandoned) { waiters.resume(with: $0) }
        // `tick` ends it in time.
        return await waiters.wait(ticket, until: .distantFuture) ?? .timeout
    }

    /// Sends a viewer's order at once.
    ///
    /// - Parameter end: Hears how it ends.
    func post(
        _ order: LiveOrder,
        session: SessionID,
        to role: AgentRole,
        _ end: @escaping @MediaLoop (Outcome) -> Void
    ) {
        send(order, session: session, to: role, by: .now() + Self.answerTime, { false }, end)
    }

    /// Has the agent of a role release everything. It does so before all other orders, which end.
    func release(_ role: AgentRole) {
        if let id = send(.releaseAll, session: 0, to: role) { forget(id, role) }
    }

    /// Has agents release everything, all at once.
    ///
    /// - Returns: How that ended for each.
    func release(_ roles: [AgentRole], within limit: TimeAmount) async -> [Outcome] {
        let results = roles.map { role in
            let waiters = Waiters<Outcome>()
            let ticket = waiters.ticket()
            send(.releaseAll, session: 0, to: role, by: .now() + limit, { false }) { waiters.resume(with: $0) }
            return (waiters, ticket)
        }
        var outcomes: [Outcome] = []
        for (waiters, ticket) in results {
            outcomes.append(await waiters.wait(ticket, until: .distantFuture) ?? .timeout)
        }
        return outcomes
    }

    private func send(
        _ order: LiveOrder,
        session: SessionID,
        to role: AgentRole,
        by deadline: NIODeadline,
        _ isAbandoned: @escaping @Sendable () -> Bool,
        _ end: @escaping @MediaLoop (Outcome) -> Void
    ) {
        guard let id = send(order, session: session, to: role) else {
            let detail = "the order has values that no agent accepts"
            finish(.refused(.outside, step: 0, detail: detail), end)
            return
        }
        pending[id] = Pending(role: role, deadline: deadline, isAbandoned: isAbandoned, end: end)
    }

    /// - Returns: The order's id; `nil` if it is not sent because an agent would end its link over it.
    private func send(_ order: LiveOrder, session: SessionID, to role: AgentRole) -> UInt32? {
        Self.lastID &+= 1
        let body = InputOrder(
            id: Self.lastID,
            geometry: order.geometry,
            takesNearest: order.takesNearest,
            steps: order.steps
        )
        guard body.problem == nil else { return nil }
        tell(.input(session, body), role)
        return body.id
    }

    // MARK: Ends

    /// Records an agent's answer.
    ///
    /// - Returns: Whether it is the answer to an order of that agent.
    func received(_ report: InputReport, from role: AgentRole) -> Bool {
        guard pending[report.id]?.role == role else {
            guard unawaited[report.id] == role else { return false }
            unawaited[report.id] = nil
            return true
        }
        switch report.outcome {
        case .done(let began, let at): finish(report.id, .done(began: began, at: at))
        case .refused(let refusal, let step, let detail):
            finish(report.id, .refused(refusal, step: Int(step), detail: detail))
        }
        return true
    }

    /// Records that an agent's link is lost, and its orders with it.
    func agentLost(_ role: AgentRole) {
        unawaited = unawaited.filter { $0.value != role }
        for (id, order) in pending where order.role == role { finish(id, .lost) }
    }

    /// Ends an agent's orders, and has it release everything.
    func withdraw(from role: AgentRole, because reason: Withdrawal) {
        release(role)
        for (id, order) in pending where order.role == role {
            forget(id, role)
            finish(id, .withdrawn(reason))
        }
    }

    /// Ends orders that were not answered in time, or whose callers are gone. Called periodically.
    func tick() {
        let now = NIODeadline.now()
        for (id, order) in pending {
            let isLate = order.deadline <= now
            guard isLate || order.isAbandoned() else { continue }
            release(order.role)
            forget(id, order.role)
            finish(id, isLate ? .timeout : .withdrawn(.callerGone))
        }
    }

    private func finish(_ id: UInt32, _ outcome: Outcome) {
        if let order = pending.removeValue(forKey: id) { finish(outcome, order.end) }
    }

    private func finish(_ outcome: Outcome, _ end: @MediaLoop (Outcome) -> Void) {
        ended[outcome.word, default: 0] += 1
        end(outcome)
    }

    /// Awaits the answer to an order for no one.
    private func forget(_ id: UInt32, _ role: AgentRole) {
        unawaited[id] = role
        if unawaited.count > Self.maximumUnawaited, let oldest = unawaited.keys.min() { unawaited[oldest] = nil }
    }
}

extension InputReport.Refusal {
    /// Its name in metrics.
    var word: String {
        switch self {
        case .unknownSession: "unknown_session"
        case .noFrame: "no_frame"
        case .geometryChanged: "geometry_changed"
        case .outside: "outside"
        case .unsupported: "unsupported"
        case .noBackend: "no_backend"
        case .busy: "busy"
        case .failed: "failed"
        }
    }
}
