import Foundation
import HeliographAPI
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing

/// Requests that a client sends before it has the answer to the previous one (RFC 9112, sections 9.3.2 and 9.6).
@Suite("Requests sent at once")
struct PipeliningTests {
    private static let start = RawRequest("POST /screencapture/start HTTP/1.1", "Content-Length: 0")
    private static let livez = RawRequest("GET /livez HTTP/1.1")

    /// Sends `bytes` and reads until the relay closes the connection; the client does not close it.
    private static func answers(to bytes: [UInt8], from client: ByteClient) async throws -> Answers {
        if !bytes.isEmpty { try await client.send(bytes) }
        return Answers(text: String(decoding: try await client.readToEnd(), as: UTF8.self))
    }

    private struct Answers {
        let text: String

        var statuses: [String] {
            text.components(separatedBy: "HTTP/1.1 ").dropFirst().map { String($0.prefix(3)) }
        }
    }

    private static func expectNothingLeft(_ relay: RunningRelay, sessions: Int) async throws {
        guard case .array(let left)? = try await relay.get("/screencapture").json["sessions"] else {
            throw NeverCame(description: "the list of sessions")
        }
        #expect(left.count == sessions, "a request after the last answer is not performed")
        _ = try await eventually("its place") {
            try await relay.get("/metrics").text.contains("heliograph_connections 1\n") ? true : nil
        }
    }

    @Test("are performed and answered in order")
    func inOrder() async throws {
        try await RunningRelay.run { relay in
            let client = try await ByteClient(port: relay.ports.http)
            let last = RawRequest("GET /screencapture/2 HTTP/1.1", "Connection: close")
            let requests = [Self.start, Self.livez, RawRequest("GET /nowhere HTTP/1.1"), Self.start, last]
            let answers = try await Self.answers(to: requests.flatMap(\.bytes), from: client)
            #expect(answers.statuses == ["201", "200", "404", "201", "200"])
            try await Self.expectNothingLeft(relay, sessions: 2)
        }
    }

    @Test(
        "after one that asks for another protocol and is refused are ignored, and the connection ends",
        arguments: [
            RawRequest("GET /livez HTTP/1.1", "Connection: Upgrade", "Upgrade: h2c"),
            RawRequest("GET /screencapture/77/ws HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket"),
            RawRequest("CONNECT localhost:80 HTTP/1.1"),
        ]
    )
    func refusedSwitch(request: RawRequest) async throws {
        try await RunningRelay.run { relay in
            let client = try await ByteClient(port: relay.ports.http)
            let answers = try await Self.answers(to: request.bytes + Self.start.bytes, from: client)
            #expect(answers.statuses.count == 1)
            #expect(answers.text.lowercased().contains("connection: close"))
            try await Self.expectNothingLeft(relay, sessions: 0)
        }
    }

    @Test("with the body held back are asked for it")
    func bodyHeldBack() async throws {
        try await RunningRelay.run { relay in
            let client = try await ByteClient(port: relay.ports.http)
            let head = RawRequest(
                "POST /screencapture/start HTTP/1.1",
                "Content-Length: 2",
                "Expect: 100-continue",
                "Connection: close"
            )
            try await client.send(head.bytes)
            let asked = "HTTP/1.1 100 Continue\r\n\r\n"
            #expect(String(decoding: try await client.read(asked.utf8.count), as: UTF8.self) == asked)
            let answers = try await Self.answers(to: Array("{}".utf8), from: client)
            #expect(answers.statuses == ["201"])
        }
    }

    @Test("are all answered, though there are many and their client has closed its sending side")
    func half() async throws {
        try await RunningRelay.run { relay in
            let client = try await ByteClient(port: relay.ports.http)
            let count = 300
            try await client.send((0..<count).flatMap { _ in Self.livez.bytes })
            try await client.closeOutput()
            let answers = try await Self.answers(to: [], from: client)
            #expect(answers.statuses == [String](repeating: "200", count: count))
        }
    }

    @Test("after a wait, whose answer is the connection's last, are ignored, and the connection ends")
    func afterWait() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let client = try await ByteClient(port: relay.ports.http)
            let wait = RawRequest("GET /screencapture/\(session.id)/wait?until=changed&timeout=0.2 HTTP/1.1")
            let requests = [Self.livez, wait] + [RawRequest](repeating: Self.start, count: 20)
            let answers = try await Self.answers(to: requests.flatMap(\.bytes), from: client)
            #expect(answers.statuses == ["200", "504"])
            try await Self.expectNothingLeft(relay, sessions: 1)
        }
    }

    @Test("after a stream are ignored: its end is the connection's, and so is its client's end")
    func afterStream() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let stream = RawRequest("GET /screencapture/\(session.id)/stream.h264 HTTP/1.1")
            let (leaving, client) = (
                try await ByteClient(port: relay.ports.http), try await ByteClient(port: relay.ports.http)
            )
            for client in [leaving, client] {
                try await client.send(stream.bytes + (0..<50).flatMap { _ in Self.start.bytes })
                let head = try #require(try await client.next())
                #expect(String(decoding: head, as: UTF8.self).hasPrefix("HTTP/1.1 200"))
            }
            try await leaving.close()
            _ = try await eventually("the end of the viewer that left") {
                try await relay.get("/screencapture/\(session.id)").json["viewers"] == 1 ? true : nil
            }
            #expect(try await relay.post("/screencapture/\(session.id)/stop", [:]).status == 200)
            #expect(try await Self.answers(to: [], from: client).statuses.isEmpty)
            try await Self.expectNothingLeft(relay, sessions: 0)
        }
    }

    @Test(
        "after one that is its client's last are ignored, and the connection ends",
        arguments: ["HTTP/1.1 close", "HTTP/1.1 keep-alive, Close", "HTTP/1.0 x"]
    )
    func afterLast(_ last: String) async throws {
        try await RunningRelay.run { relay in
            let words = last.split(separator: " ", maxSplits: 1)
            let request = RawRequest("GET /livez \(words[0])", "Connection: \(words[1])")
            let client = try await ByteClient(port: relay.ports.http)
            let answers = try await Self.answers(
                to: request.bytes + Self.start.bytes + Self.livez.bytes,
                from: client
            )
            #expect(answers.statuses == ["200"])
            #expect(answers.text.lowercased().contains("\r\nconnection: close\r\n"))
            try await Self.expectNothingLeft(relay, sessions: 0)
        }
    }

    @Test("that are followed by one that is broken are answered before it is refused")
    func broken() async throws {
        try await RunningRelay.run { relay in
            let client = try await ByteClient(port: relay.ports.http)
            let broken = Array("GET /li\u{0}vez\r\n\r\n".utf8)
            let answers = try await Self.answers(to: Self.livez.bytes + Self.start.bytes + broken, from: client)
            #expect(answers.statuses == ["200", "201", "400"])
            #expect(answers.text.contains("http_error"))
        }
    }
}
