/// An agent's first packet.
package struct Hello: Sendable, Equatable, Codable {
    /// The secret that the relay gave the agent when it started it, or that the operator configured.
    package var token: String
    /// The device whose screen the agent captures.
    package var device: String
    /// The capture source's kind, for example `portal` or `test-pattern`.
    package var source: String
    /// The agent's process id.
    package var pid: Int32
    /// The agent's release.
    package var release: String
    /// The agent's role. Absent on the wire for a broadcast's agent.
    package var role: AgentRole {
        get { standbyRole ?? .primary }
        set { standbyRole = newValue == .primary ? nil : newValue }
    }

    private var standbyRole: AgentRole?

    private enum CodingKeys: String, CodingKey {
        case token, device, source, pid, release
        case standbyRole = "role"
    }

    package init(
        token: String,
        device: String,
        source: String,
        pid: Int32,
        release: String,
        role: AgentRole = .primary
    ) {
        self.token = token
        self.device = device
        self.source = source
        self.pid = pid
        self.release = release
        self.role = role
    }
}

/// The role of an agent for its device, which has at most one agent of each role.
package enum AgentRole: String, Sendable, Codable, CaseIterable {
    /// Captures the screen while the broadcast runs.
    case primary
    /// Knows the sessions without encoding them, and feeds them if the broadcast's agent cannot.
    case standby
}
