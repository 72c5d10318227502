import HeliographAPI
import NIOCore
import Wire

/// Whether the relay can do its job: it accepts sessions, and every device that should be broadcast has a picture.
@MediaLoop
struct Readiness {
    /// One device's state, and why it is not ready.
    struct Device {
        var name: String
        var state: AgentLifecycle.State
        /// Why it is not ready; `nil` if it is.
        var obstacle: Obstacle?
    }

    /// Why a device is not ready.
    enum Obstacle: String {
        /// No agent's source delivers.
        case noSource = "no_source"
        /// Viewers of a session see an outdated picture.
        case stale
        /// A standing session could not be started.
        case noSession = "no_session"
    }

    let isDraining: Bool
    let devices: [Device]

    init(of switchboard: Switchboard) {
        isDraining = switchboard.isDraining
        let sessions = switchboard.sessions.byDevice
        devices = switchboard.allBroadcasts.map { broadcast in
            Device(
                name: broadcast.device.name,
                state: broadcast.machine.state,
                obstacle: Self.obstacle(of: broadcast, sessions[broadcast.device.name, default: []])
                    ?? (switchboard.missingSessions[broadcast.device.name, default: []].isEmpty ? nil : .noSession)
            )
        }
    }

    static func obstacle(of broadcast: Broadcast, _ sessions: [Session]) -> Obstacle? {
        switch broadcast.machine.state {
        case .idle, .stopping: return nil
        case .starting, .live, .away: break
        }
        guard AgentRole.allCases.contains(where: { broadcast.agent($0).isStreaming }) else { return .noSource }
        return sessions.contains { $0.source.staleSince != nil } ? .stale : nil
    }

    /// Why the relay is not ready; `nil` if it is.
    private var statement: String? {
        if isDraining { return "the relay drains: it takes no new sessions and viewers" }
        let unready = devices.filter { $0.obstacle != nil }
        guard let obstacle = unready.first?.obstacle else { return nil }
        let names = unready.filter { ($0.obstacle == .noSession) == (obstacle == .noSession) }.map(\.name)
            .joined(separator: ", ")
        return obstacle == .noSession
            ? "a standing session of \(names) does not run; the relay's log says why"
            : "no picture of \(names); the status of its broadcast says why"
    }

    /// Returns the report of a ready relay.
    ///
    /// - Throws: A ``Problem`` if it is not ready.
    func report() throws -> ReadinessReport {
        var report = ReadinessReport()
        report.draining = isDraining
        report.devices = devices.map(ReadinessReport.Device.init)
        guard let statement else { return report }
        var problem = Problem.retryable(.notReady, statement)
        if case .object(let members) = try JSONValue(encoding: report) {
            problem.extra = members.filter { $0.name != "status" }
        }
        throw problem
    }
}

extension ReadinessReport.Device {
    fileprivate init(_ device: Readiness.Device) {
        self.init()
        self.device = device.name
        state = device.state.rawValue
        ready = device.obstacle == nil
        reason = device.obstacle?.rawValue
    }
}
