import Foundation
import HeliographAPI
import Media
import Relay
import RelayTestSupport
import Synchronization
import TestSupport
import Testing

@Suite("SIGTERM while 50 clients poll and stream")
struct TerminationTests {
    @Test("ends the relay in good time, its agents with it, and leaves a whole state")
    func ends() async throws {
        var received = 0
        for round in 0..<Effort.choose(3, whole: 200) { received += try await end(seed: UInt64(round)) }
        // They really streamed.
        #expect(received > 1 << 20)
    }

    /// Starts a relay with a broadcast, a standby and two sessions, and ends it at a given moment.
    ///
    /// - Returns: The number of bytes that its clients received.
    private func end(seed: UInt64) async throws -> Int {
        var generator = SeededGenerator(seed: seed)
        let folder = try Scratch(), agent = folder.file("capture-agent"), state = folder.file("state.json")
        // The agents' command lines show which relay they belong to.
        try FileManager.default.createSymbolicLink(at: agent, withDestinationURL: Programs.product("capture-agent"))
        let relay = try await RelayProcess(arguments: [
            "--session-port-base", "0", "--agent", agent.path, "--state-file", state.path, "--fallback", "test-pattern",
            "--log-level", "critical",
        ])
        defer { if relay.status == nil { kill(relay.pid, SIGKILL) } }
        let source: RelayProcess.Object = ["kind": "test-pattern", "width": 320, "height": 180, "fps": 30]
        try await relay.post("/screencapture/broadcast/start", ["source": source])
        var sessions: [RelayProcess.Object] = []
        for _ in 0..<2 { sessions.append(try await relay.startSession(["fps": 30, "bitrate": 500_000])) }

        #expect(Self.isNamed(agent.path))

        let crowd = Crowd()
        let moment = Duration.milliseconds(Int.random(in: 0...1500, using: &generator))
        let received = try await withThrowingTaskGroup(of: Int.self) { clients in
            for number in 0..<50 {
                let session = sessions[number % 2]
                let client = Client(
                    relay: relay.httpPort,
                    session: session.integer("id"),
                    port: session.integer("port"),
                    part: Client.Part.allCases[number % Client.Part.allCases.count],
                    crowd: crowd
                )
                clients.addTask { await client.run() }
            }
            try await Task.sleep(for: moment)
            kill(relay.pid, SIGTERM)
            let status = try await eventually("the relay's end, round \(seed)") { relay.status }
            #expect(status == 0, "round \(seed)")
            crowd.goHome()
            return try await clients.reduce(0, +)
        }
        try await eventually("the agents' end, round \(seed)") { Self.isNamed(agent.path) ? nil : () }
        let kept = try #require(try StateFile(path: state.path).read())
        #expect(
            Set(kept.sessions.map { Int($0.id) }).isSuperset(of: sessions.map { $0.integer("id") }),
            "round \(seed)"
        )
        #expect(kept.broadcasts.count == 1, "round \(seed)")
        // No partly written state file.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.folder.path).count == 2, "round \(seed)")
        return received
    }

    /// Returns whether a process runs whose command line contains `word`.
    private static func isNamed(_ word: String) -> Bool {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.contains { entry in
            let line = Int32(entry).flatMap { FileManager.default.contents(atPath: "/proc/\($0)/cmdline") } ?? Data()
            return line.range(of: Data(word.utf8)) != nil
        }
    }
}

/// What the clients of one relay know about its end. Afterwards its ports may belong to another relay.
private final class Crowd: Sendable {
    private let end = Atomic(false)

    var hasEnded: Bool { end.load(ordering: .relaxed) }

    func goHome() { end.store(true, ordering: .relaxed) }
}

/// Calls or watches a relay repeatedly until it is gone.
private struct Client {
    enum Part: CaseIterable {
        case polls, port, stream, movie, pictures, stalled, webSocket, waits, snapshots, comesAndGoes
    }

    let relay: Int
    let session: Int
    let port: Int
    let part: Part
    let crowd: Crowd

    /// The number of bytes that it received.
    func run() async -> Int {
        var count = 0
        while !crowd.hasEnded {
            do {
                count += try await visit()
            } catch is NeverCame {
                // A missing answer is not an end.
                Issue.record("\(part) waits for ever")
                return count
            } catch {
                // The port is closed, or the connection ended during a write.
                return count
            }
        }
        return count
    }

    /// Reads one connection to its end.
    private func visit() async throws -> Int {
        switch part {
        case .polls: try await call("GET", "")
        case .port: try await ByteClient(port: port).readToEnd().count
        case .stream: try await call("GET", "/\(session)/stream.h264")
        case .movie: try await call("GET", "/\(session)/stream.mp4")
        case .pictures: try await call("GET", "/\(session)/stream.mjpeg")
        case .stalled: try await call("GET", "/\(session)/stream.ts", reads: false)
        case .webSocket: try await call("GET", "/\(session)/ws", fields: Self.handshake)
        case .waits: try await call("GET", "/\(session)/wait?until=static&for=60&timeout=600")
        case .snapshots: try await call("GET", "/\(session)/snapshot.jpg")
        case .comesAndGoes: try await call("POST", "/start", #"{"ttl": 1, "width": 64, "height": 64}"#)
        }
    }

    private static let handshake =
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

    private func call(
        _ method: String,
        _ path: String,
        _ body: String = "",
        fields: String = "Connection: close\r\n",
        reads: Bool = true
    ) async throws -> Int {
        let client = try await ByteClient(port: relay, autoRead: reads)
        let head = "\(method) /screencapture\(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)"
        try await client.send(Array("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8))
        if !reads {
            try await Task.sleep(for: .milliseconds(500))
            try await client.startReading()
        }
        return try await client.readToEnd().count
    }

}
