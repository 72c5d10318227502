import Foundation
import Media
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

/// The relay is a separate process, whose media loop no other test uses.
@Suite("A device of 400 sessions", .serialized)
struct ManySessionsTests {
    private static let count = 400
    private static let token = "0123456789abcdef0123"
    /// The processor time within which every turn of the media loop must end, in seconds: what a picture at 60 fps may
    /// wait.
    private static let longestTurn = 0.016

    /// Runs a relay with the sessions while `body` runs, then ends it.
    private static func run(_ body: (RelayProcess, [SessionID]) async throws -> Void) async throws {
        let scratch = try Scratch()
        let relay = try await RelayProcess(
            arguments: [
                "--max-sessions", "\(count)", "--session-port-base", "0", "--log-level", "critical",
                // The agents here send no heartbeats while they wait.
                "--watchdog", "600",
                "--state-file", scratch.file("state").path, "--keys-file", scratch.file("keys").path,
            ],
            linkToken: token
        )
        defer { if relay.status == nil { relay.terminate() } }
        var sessions: [SessionID] = []
        for _ in 0..<count { sessions.append(SessionID(try await relay.startSession([:]).integer("id"))) }
        try await body(relay, sessions)
        #expect(relay.terminate() == 0)
    }

    private static func agent(_ role: AgentRole, of relay: RelayProcess) async throws -> LinkClient {
        let link = try await LinkClient(port: relay.agentPort)
        let hello = Hello(
            token: token,
            device: "default",
            source: "test-pattern",
            pid: 4711,
            release: "test",
            role: role
        )
        try await link.send(.hello(hello))
        guard case .welcome = try await link.next() else { throw NeverCame(description: "no WELCOME") }
        return link
    }

    private static func heartbeat(_ number: UInt64, of sessions: [SessionID]) -> Packet {
        var heartbeat = Heartbeat(session: 0, clock: number, framesReceived: number)
        heartbeat.sessions = sessions.map { id in
            var counters = SessionCounters()
            (counters.received, counters.encodedLive, counters.bytes) = (number, number, number * 1000)
            return SessionFigures(
                session: id,
                encoder: "x264",
                size: PictureSize(width: 1280, height: 720),
                counters: counters,
                linkDrops: 0
            )
        }
        return .heartbeat(heartbeat)
    }

    /// The processor time of the relay's longest turn of the media loop so far, in seconds.
    private static func longestTurn(of relay: RelayProcess) async throws -> Double {
        let name = "heliograph_media_loop_longest_turn_cpu_seconds "
        let line = try await relay.text("/metrics").split(separator: "\n").first { $0.hasPrefix(name) }
        return try #require(line.flatMap { Double($0.dropFirst(name.count)) })
    }

    @Test("has no long turn of the media loop: agents link, tell figures, sessions are listed and end")
    func turns() async throws {
        // The processor time of a virtual machine counts what its host took from it. A turn that is long because of
        // its work is long each time.
        var tries: [[(after: String, longest: Double)]] = []
        repeat {
            var turns: [(after: String, longest: Double)] = []
            try await Self.run { relay, sessions in
                let agent = try await Self.agent(.primary, of: relay)
                for id in sessions { _ = try await agent.firstRequest(of: id) }
                turns.append(("an agent linked", try await Self.longestTurn(of: relay)))
                for number in 1...20 { try await agent.send(Self.heartbeat(UInt64(number), of: sessions)) }
                _ = try await eventually("the last heartbeat") { () -> Bool? in
                    let heartbeat = try await relay.get("/screencapture/broadcast").object("heartbeat")
                    return heartbeat.integer("framesReceived") == 20 ? true : nil
                }
                turns.append(("figures of all sessions came", try await Self.longestTurn(of: relay)))
                // In the kernel's list of sockets, which shows to which process an agent belongs.
                let others = try (0..<1000).map { _ in try Connection(port: relay.httpPort) }
                defer { for other in others { other.close() } }
                _ = try await Self.agent(.standby, of: relay)
                turns.append(("an agent linked beside 1,000 connections", try await Self.longestTurn(of: relay)))
                _ = try await relay.get("/screencapture")
                turns.append(("the sessions were listed", try await Self.longestTurn(of: relay)))
                #expect(try await relay.post("/screencapture/stop").integer("stopped") == Self.count)
                turns.append(("all sessions ended", try await Self.longestTurn(of: relay)))
            }
            #expect(turns.allSatisfy { $0.longest > 0 })
            tries.append(turns)
        } while tries.count < 3 && !tries.contains { $0.allSatisfy { $0.longest < Self.longestTurn } }
        #expect(tries.contains { $0.allSatisfy { $0.longest < Self.longestTurn } }, "\(tries)")
    }

    @Test("keeps its agent's link though all sessions rest and wake every few seconds")
    func rests() async throws {
        try await Self.run { relay, sessions in
            let agent = try await Self.agent(.primary, of: relay)
            try await agent.send(.status(.streaming))
            for id in sessions {
                var stream = StaticStream()
                try await agent.send(try stream.beginning(), session: id)
            }
            // What 20 s of such a screen need, at once. 2 x 400 x 5 packets are twice what an agent may report.
            for _ in 0..<5 {
                for id in sessions {
                    let slot = NIODeadline.now().uptimeNanoseconds
                    let rest = Rest(keyframe: 66_666, slot: slot, fps: 30, keyframeInterval: 60_000_000_000)
                    try await agent.send(.rest(id, rest))
                    try await agent.send(.wake(id))
                }
                for _ in sessions { _ = try await agent.first { if case .rested = $0 { true } else { nil } } }
            }
            let link = try await relay.get("/screencapture/broadcast").object("link")
            #expect(link["connected"] as? Bool == true && link.integer("reconnects") == 0)
        }
    }
}
