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
        /// Which of its standing sessions does not run, and why; `nil` if all do.
        var lack: String?
    }

    /// Why a device is not ready.
    enum Obstacle: String {
        /// No agent's source delivers.
        case noSource = "no_source"
        /// Viewers of a session see an outdated picture.
        case stale
        /// A standing session does not run.
        case noSession = "no_session"
    }

    let isDraining: Bool
    let devices: [Device]

    init(of switchboard: Switchboard) {
        isDraining = switchboard.isDraining
        let sessions = switchboard.sessions.byDevice
        devices = switchboard.allBroadcasts.map { broadcast in
            let name = broadcast.device.name
            let own = sessions[name, default: []]
            let lack = switchboard.standing.obstacle(of: name) ?? Self.failure(of: broadcast, own)
            return Device(
                name: name,
                state: broadcast.machine.state,
                obstacle: Self.obstacle(of: broadcast, own) ?? lack.map { _ in .noSession },
                lack: lack
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

    /// Why a standing session that exists cannot be encoded; `nil` if all can.
    private static func failure(of broadcast: Broadcast, _ sessions: [Session]) -> String? {
        for session in sessions {
            guard let name = session.name, broadcast.device.standingSessions[name] != nil,
                let reason = session.source.failure
            else { continue }
            return "session \(name) of device \(broadcast.device.name) fails: \(reason)"
        }
        return nil
    }

    /// Why the relay is not ready; `nil` if it is.
    private var statement: String? {
        if isDraining { return "the relay drains: it takes no new sessions and viewers" }
        let dark = devices.filter { $0.obstacle == .noSource || $0.obstacle == .stale }.map(\.name)
        let lacks = devices.compactMap(\.lack)
        var reasons: [String] = []
        if !dark.isEmpty {
            reasons.append("no picture of \(dark.joined(separator: ", ")): the status of each broadcast says why")
        }
        if let first = lacks.first {
            let others = lacks.count > 1 ? ", and sessions of \(lacks.count - 1) more devices" : ""
            reasons.append("\(first)\(others)")
        }
        return reasons.isEmpty ? nil : reasons.joined(separator: "; ")
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
