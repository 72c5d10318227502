import Wire

/// What the relay tells the agents of one device: the way back.
@MediaLoop
protocol AgentOrders: AnyObject {
    /// Sends to the agent of a role, if one is linked.
    func send(_ packet: Packet, to role: AgentRole)
}
