import Media
import Relay
import RelayTestSupport
import TestSupport

/// Fuzzes the API of a live relay with callers and viewers, in episodes, while a steady device runs.
package struct CallerCampaign {
    /// Limits that are short, so that an episode does not last longer. In seconds.
    private static let (requestTimeout, idleTimeout) = (1.0, 1.0)
    /// How long a snapshot may take if no agent answers it.
    private static let snapshotTimeout = 5.0
    /// The additional time on a busy machine, in seconds.
    private static let slack = 15.0
    /// The number of source addresses.
    private static let addresses = 8
    private static let mostPerAddress = 150
    private static let probeInterval: Int64 = 200_000_000

    static let relayArguments = [
        "--request-timeout", "\(requestTimeout)", "--idle-timeout", "\(idleTimeout)", "--viewer-timeout", "2",
        "--max-connections-per-address", "\(mostPerAddress)",
    ]

    let options: CampaignOptions
    let pictures: [Codec: RealPictures]
    var log: CampaignLog
    var figures = CallerFigures()

    package init(_ options: CampaignOptions) throws {
        self.options = options
        pictures = try RealPictures.load()
        log = CampaignLog(name: "callers", options: options)
    }

    package mutating func run() async throws -> CampaignReport { try await runEpisodes() }
}

extension CallerCampaign: EpisodicCampaign {
    static func text(of step: String) -> String { step }

    mutating func perform(
        _ number: Int,
        on relay: TestedRelay,
        connections: Int,
        _ performed: (String) -> Void
    ) throws {
        var random = SeededGenerator(seed: options.seed(of: number))
        let sessions = try (0..<2).map { place in
            let codec = place == 0 ? "h264" : "h265"
            let answer = try relay.call(
                "POST",
                "/screencapture/start",
                "{\"device\": \"alpha\", \"ttl\": 600, \"codec\": \"\(codec)\"}"
            )
            guard let session = FuzzSession(answer.json) else {
                throw Fault("a session that does not start", "\(answer.status)")
            }
            return session
        }
        // If many connections come from one address, some of them are refused, and no others.
        let isCrowd = random.chance(0.2)
        let attacks: [Attack]
        if isCrowd {
            let attack = Attack(sessions: sessions.map { Int($0.id) }, by: &random)
            attacks = [Attack](repeating: attack, count: Self.mostPerAddress + 30)
        } else {
            attacks = (0..<random.int(in: 20...80)).map { _ in
                Attack(sessions: sessions.map { Int($0.id) }, by: &random)
            }
        }
        var callers: [Caller] = []
        for (place, attack) in attacks.enumerated() {
            if !isCrowd || place == 0 { performed(attack.name) }
            let source = 0x7F00_0002 + UInt32(isCrowd ? 0 : place % Self.addresses)
            let caller: Caller
            do {
                caller = try Caller(attack, port: relay.httpPort, from: source, on: relay.loop)
            } catch {
                try relay.expectAlive()
                throw error
            }
            callers.append(caller)
            caller.step()
            relay.loop.turn(milliseconds: 0)
        }
        figures.connections += callers.count
        defer { for caller in callers { caller.leave() } }
        try wait(for: callers, on: relay)
        for caller in callers {
            figures.answers += caller.answers.count
            if let fault = caller.fault { log.note(fault, episode: number, steps: []) }
            if isHeld(caller) {
                log.note(Fault("a place that is held", caller.attack.name), episode: number, steps: [])
            }
        }
        // Only the relay can tell whether connections that do not read have been ended.
        let streams = callers.count { $0.isOpen && $0.isStream }
        figures.streams += streams
        try notePlaces(connections + streams, on: relay, number)
        for caller in callers { caller.leave() }
        for session in sessions { _ = try relay.call("POST", "/screencapture/\(session.id)/stop") }
        try notePlaces(connections, on: relay, number)
    }

    private mutating func notePlaces(_ count: Int, on relay: TestedRelay, _ episode: Int) throws {
        do {
            try expectPlaces(count, on: relay)
        } catch let fault as Fault {
            log.note(fault, episode: episode, steps: [])
        }
    }

    /// Returns whether the relay should have ended a connection by now.
    private func isHeld(_ caller: Caller) -> Bool { caller.attack.reads && caller.isOpen && !caller.isStream }

    /// Waits until everything that the relay has to end has ended, while it answers others.
    private mutating func wait(for callers: [Caller], on relay: TestedRelay) throws {
        let begin = monotonicNow()
        var nextProbe = begin
        var due = begin
        let dripping = callers.map(\.attack.pieces.count).max() ?? 0
        let limit = Self.requestTimeout + 2 * Self.idleTimeout + Self.snapshotTimeout + Self.slack
        // A caller that sends slowly gets its full time first.
        let deadline = begin + Int64((limit + Double(dripping) * 0.01) * 1e9)
        while callers.contains(where: { isHeld($0) || !$0.isDone }), monotonicNow() < deadline {
            let now = monotonicNow()
            if now >= due {
                due = now + 10_000_000
                for caller in callers where !caller.isDone { caller.step() }
            }
            if now >= nextProbe {
                nextProbe = now + Self.probeInterval
                let answer = try relay.call("GET", "/livez")
                try expect(answer.status == 200, "another caller is refused", "\(answer.status)")
                figures.probes += 1
            }
            relay.loop.turn()
            try relay.expectAlive()
        }
    }
}

/// What was done while a relay's API was fuzzed.
struct CallerFigures: CampaignFigures {
    var episodes = 0
    var connections = 0
    var answers = 0
    var streams = 0
    var probes = 0
    /// The highest memory use of the relay, in KiB.
    var memory = 0

    var description: String {
        """
        \(episodes) episodes, \(connections) connections, \(answers) answers, \(streams) streams and WebSockets, \(probes) others' \
        calls answered, \(memory >> 10) MiB at most
        """
    }
}
