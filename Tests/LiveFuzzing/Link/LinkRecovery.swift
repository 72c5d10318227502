import HeliographAPI
import Media
import Relay
import TestSupport
import Wire

/// Checks whether attacked sessions continue once they have a sound agent and a viewer.
struct LinkRecovery {
    /// How long each of them may take, in ns and in seconds.
    private static let patience: Int64 = 20_000_000_000
    private static let patienceSeconds = 20.0

    private let relay: TestedRelay
    private let pictures: [Codec: RealPictures]
    private let ledger: UnitLedger

    init(relay: TestedRelay, pictures: [Codec: RealPictures], ledger: UnitLedger) {
        (self.relay, self.pictures, self.ledger) = (relay, pictures, ledger)
    }

    private var loop: Loop { relay.loop }

    /// - Returns: The number of sessions, all of which have continued.
    /// - Throws: A fault for the first one that does not.
    func recover(_ sessions: [FuzzSession], of device: String) throws -> Int {
        guard !sessions.isEmpty else { return 0 }
        let agent = try soundAgent(of: device)
        for session in sessions { try recover(session, by: agent) }
        agent.end(.close)
        return sessions.count
    }

    /// Connects an agent. The relay may refuse it for a moment while it stops a broadcast.
    private func soundAgent(of device: String) throws -> FuzzAgent {
        let deadline = monotonicNow() + Self.patience
        while true {
            let agent = FuzzAgent(device: device, role: .primary, ledger: ledger, pictures: pictures)
            try agent.connect(port: relay.agentPort, on: loop)
            agent.greet(.fuzz(of: agent))
            agent.send(.status(SourceStatus(state: .streaming)))
            loop.run(atMost: Self.patienceSeconds) { agent.isAnswered }
            try relay.expectAlive()
            if agent.isLinked { return agent }
            agent.end(.close)
            try expect(
                monotonicNow() < deadline,
                "a sound agent that is not let in",
                "\(String(describing: agent.rejected))"
            )
            loop.run(milliseconds: 50)
        }
    }

    private func recover(_ session: FuzzSession, by agent: FuzzAgent) throws {
        let watcher = Watcher(Viewing(format: .bare, join: "live"), of: session, ledger: ledger)
        try watcher.join(httpPort: relay.httpPort, on: loop)
        let asked = loop.run(atMost: Self.patienceSeconds) {
            agent.requests[session.id] != nil && agent.active.contains(session.id) || !watcher.isOpen
        }
        try relay.expectAlive()
        var sent: UInt64 = 0
        let deadline = monotonicNow() + Self.patience
        // A viewer may join after the first ones.
        while asked, watcher.isOpen, watcher.fault == nil, monotonicNow() < deadline {
            for recipe in [.key(group: 0), .next, .next] as [UnitRecipe] {
                agent.send(.accessUnit(session.id, agent.unit(recipe, of: session.id, codec: session.codec)))
            }
            // The first one suffices, however late it is on a busy machine.
            if sent == 0 { sent = ledger.newest }
            if loop.run(atMost: 0.1, until: { watcher.order.newest >= sent || !watcher.isOpen }) { break }
        }
        try relay.expectAlive()
        if let fault = watcher.fault { throw fault }
        guard sent > 0, watcher.order.newest >= sent else {
            let report = try relay.call("GET", "/screencapture/\(session.id)").json
            let kind = asked ? "a session that does not go on" : "a session that asks a sound agent for nothing"
            throw Fault(kind, "\(watcher.order.newest) of \(sent): \(report.text)")
        }
        watcher.leave()
    }
}
