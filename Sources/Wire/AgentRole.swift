/// What an agent is to its device, which has at most one of each.
package enum AgentRole: String, Sendable, Codable, CaseIterable {
    /// Captures the screen for as long as the broadcast runs.
    case broadcast
    /// Waits with sessions that are not active, to feed them when the broadcast's agent cannot.
    case standby
}
