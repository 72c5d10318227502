import Foundation
import HeliographAPI
import Relay
import RelayTestSupport
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("Events", .serialized)
struct EventTests {
    /// A stream of events, and the text received so far.
    private final class Listener: Sendable {
        private let client: ByteClient
        private let text = Mutex("")

        init(_ relay: RunningRelay, _ query: String = "", last: String? = nil) async throws {
            client = try await ByteClient(port: relay.ports.http)
            let field = last.map { "Last-Event-ID: \($0)\r\n" } ?? ""
            let head = "GET /v1/events\(query) HTTP/1.1\r\nHost: localhost\r\n\(field)\r\n"
            try await client.send(Array(head.utf8))
            try await read { $0.contains(": events\n") }
        }

        /// Reads until the text meets a condition.
        private func read(until isDone: (String) -> Bool) async throws {
            while !text.withLock({ isDone($0) }) {
                guard let bytes = try await client.next() else { throw NeverCame(description: "an event") }
                text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
            }
        }

        /// The ids and types of the events so far, without blocks that only change the id.
        private var events: [(id: String, type: String)] {
            let lines = text.withLock { $0.split(whereSeparator: \.isNewline).map(String.init) }
            return zip([""] + lines, lines).compactMap { before, line in
                guard line.hasPrefix("event: ") else { return nil }
                let id = before.hasPrefix("id: ") ? before.dropFirst(4) : ""
                return (String(id), String(line.dropFirst(7)))
            }
        }

        /// The types of the first events.
        func types(_ count: Int) async throws -> [String] {
            try await read { $0.components(separatedBy: "\ndata: ").count > count && $0.hasSuffix("\n\r\n") }
            return events.map(\.type)
        }

        var ids: [String] { events.map(\.id) }

        /// The states of the events so far.
        var states: [String?] {
            let lines = text.withLock { $0.split(whereSeparator: \.isNewline) }.filter { $0.hasPrefix("data: ") }
            return lines.map { try? JSONValue(parsing: $0.dropFirst(6).utf8)["state"]?.string }
        }

        /// Waits until an event of a type comes, or has come.
        func hears(_ kind: String) async throws { try await read { $0.contains("event: \(kind)\n") } }

        /// Waits until the relay names an event without telling it.
        func isTold(id: String) async throws { try await read { $0.contains("\nid: \(id)\n\n") } }

        func close() async throws { try await client.close() }
    }

    @Test("report sessions, agents, feeds, viewers and waits to listeners who ask for them")
    func all() async throws {
        try await RunningRelay.run { relay in
            let everything = try await Listener(relay)
            let sessions = try await Listener(relay, "?types=session.started,session.ended&device=default")
            let session = try await relay.startSession()
            _ = try await relay.patch("/screencapture/\(session.id)", ["fps": 5])
            let link = try await LinkClient(greeting: relay)
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            try await relay.waitForPicture(of: session.id)
            _ = try await relay.get("/v1/sessions/\(session.id)/wait?until=static&for=0")
            try await link.close()
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            #expect(try await sessions.types(2) == ["session.started", "session.ended"])
            for kind in ["session.changed", "agent.linked", "broadcast.changed", "feed.changed", "wait.ended"] {
                try await everything.hears(kind)
            }
            try await everything.close()
            try await sessions.close()
        }
    }

    @Test("tell once that a device's source is lost, and that it is back")
    func source() async throws {
        try await RunningRelay.run { relay in
            let link = try await LinkClient(greeting: relay)
            _ = try await eventually("the source") {
                try await relay.broadcast()["source"]?["state"] == "streaming" ? true : nil
            }
            let listener = try await Listener(relay, "?types=broadcast")
            let lost = SourceStatus(state: .lost, cause: "node_gone", detail: "the node is gone")
            for status in [lost, lost, .streaming] { try await link.send(.status(status)) }
            try await link.close()
            #expect(try await listener.types(3).count == 3)
            #expect(listener.states == ["live", "live", "away"], "\(listener.states)")
            try await listener.close()
        }
    }

    @Test("go on where a listener stopped, without one missing or twice; another relay's ids get all there are")
    func replay() async throws {
        try await RunningRelay.run { relay in
            let first = try await Listener(relay, "?types=session")
            for _ in 0..<3 { _ = try await relay.startSession() }
            _ = try await first.types(3)
            let ids = first.ids
            try await first.close()
            for _ in 0..<2 { _ = try await relay.startSession() }
            let second = try await Listener(relay, "?types=session", last: ids[1])
            #expect(try await second.types(3).count == 3)
            #expect(second.ids.first == ids[2] && Set(second.ids).count == 3)
            let stranger = try await Listener(relay, "?types=session", last: "00-7")
            #expect(try await stranger.types(5).count == 5)
            // A listener that wants none of them also goes on after them.
            let other = try await Listener(relay, "?types=keys", last: ids[1])
            try await other.isTold(id: try #require(second.ids.last))
            for listener in [second, stranger, other] { try await listener.close() }
        }
    }

    @Test("reach 1,000 listeners, one of whom never reads; those who leave are forgotten, and all end with the relay")
    func many() async throws {
        try await RunningRelay.run {
            $0.connections.maximumPerAddress = 2000
        } _: { relay in
            let silent = try await Listener(relay)
            let listeners = try await withThrowingTaskGroup { group in
                for _ in 0..<1000 { group.addTask { try await Listener(relay, "?types=session") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for _ in 0..<5 { _ = try await relay.startSession() }
            for listener in listeners {
                #expect(try await listener.types(5).count == 5)
                #expect(Set(listener.ids).count == 5)
            }
            for listener in listeners.dropFirst(10) { try await listener.close() }
            withExtendedLifetime(silent) {}
        }
    }

    @Test("are asked for strictly")
    func arguments() async throws {
        try await RunningRelay.run { relay in
            for query in ["types=nonsense", "types=", "types=session,", "session=x", "since=3"] {
                let answer = try await relay.get("/v1/events?\(query)")
                #expect(answer.status == 400, "\(query): \(answer.text)")
            }
        }
    }
}
