import Foundation
import HeliographAPI
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("A request")
struct RequestLimitTests {
    struct Bomb: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]

        init(_ what: String, _ head: String) {
            testDescription = what
            bytes = Array(head.utf8)
        }
    }

    private static let long = String(repeating: "a", count: 17 << 10)

    private static let bombs = [
        Bomb("a long field", "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: \(long)\r\n\r\n"),
        Bomb("a field without an end", "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: \(long)"),
        Bomb("a long name", "GET /livez HTTP/1.1\r\nHost: localhost\r\n\(long): x\r\n\r\n"),
        Bomb("a long path", "GET /\(long) HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        Bomb(
            "many fields",
            "GET /livez HTTP/1.1\r\nHost: localhost\r\n" + (0..<101).map { "X-\($0): x\r\n" }.joined() + "\r\n"
        ),
        Bomb(
            "much in all",
            "GET /livez HTTP/1.1\r\nHost: localhost\r\n"
                + (0..<33).map { "X-\($0): \(long.prefix(1 << 10))\r\n" }.joined() + "\r\n"
        ),
    ]

    @Test("a request with too large a head is refused, as the first of a connection or later", arguments: bombs)
    func headTooLarge(_ bomb: Bomb) async throws {
        try await RunningRelay.run { relay in
            let (first, later) = (
                try await ByteClient(port: relay.ports.http), try await ByteClient(port: relay.ports.http)
            )
            #expect(try await RawRequest("GET /livez HTTP/1.1").ask(later)?.status == 200)
            for client in [first, later] {
                try await client.send(bomb.bytes)
                let answer = try #require(try await RawRequest.answer(from: client))
                #expect(answer.status == 431)
                #expect(answer.code == "header_too_large")
                #expect(try await client.next() == nil)
            }
            #expect(try await relay.get("/livez").status == 200)
        }
    }

    @Test("whose head is as large as it may be is answered")
    func headFits() async throws {
        try await RunningRelay.run { relay in
            let client = try await ByteClient(port: relay.ports.http)
            let fields = (0..<24).map { "X-\($0): \(Self.long.prefix(1 << 10))\r\n" }.joined()
            try await client.send(Array("GET /livez HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n".utf8))
            #expect(try await RawRequest.answer(from: client)?.status == 200)
        }
    }

    @Test("that is a connection's first and comes slowly, or not at all, is given up; others are answered meanwhile")
    func slowHead() async throws {
        try await RunningRelay.run {
            $0.connections.requestTimeout = .seconds(2)
        } _: { relay in
            let (silent, slow) = (
                try await ByteClient(port: relay.ports.http), try await ByteClient(port: relay.ports.http)
            )
            let bytes = Task {
                for byte in RawRequest("GET /livez HTTP/1.1", "X: \(Self.long)").bytes {
                    try await slow.send([byte])
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            #expect(try await relay.get("/livez").status == 200)
            for client in [silent, slow] {
                let answer = try #require(try await RawRequest.answer(from: client))
                #expect(answer.status == 408)
                #expect(answer.code == "request_timeout")
                #expect(try await client.next() == nil)
            }
            bytes.cancel()
            _ = await bytes.result
            _ = try await eventually("their places") {
                try await relay.get("/metrics").text.contains("heliograph_connections 1\n") ? true : nil
            }
        }
    }

    @Test("whose body comes slowly is given up, whether it is read or not")
    func slowBody() async throws {
        try await RunningRelay.run {
            $0.connections.requestTimeout = .seconds(2)
        } _: { relay in
            let read = try await ByteClient(port: relay.ports.http)
            let answer = try await RawRequest(
                "POST /screencapture/start HTTP/1.1",
                "Content-Length: 20",
                body: "{\"fps\":"
            ).ask(read)
            #expect(answer?.status == 408)
            #expect(answer?.code == "request_timeout")
            #expect(try await read.next() == nil)
            let unread = try await ByteClient(port: relay.ports.http)
            let early = try await RawRequest("GET /livez HTTP/1.1", "Content-Length: 20", body: "{").ask(unread)
            #expect(early?.status == 200)
            #expect(try await unread.next() == nil, "what is left of the body is not waited for")
            #expect(try await relay.get("/screencapture").json == ["sessions": []])
        }
    }

    @Test(
        "that does not follow another in time ends the connection without a word, and so does one that begins and does not end"
    )
    func idle() async throws {
        try await RunningRelay.run {
            $0.connections.idleTimeout = .seconds(2)
        } _: { relay in
            let (idle, slow, busy) = (
                try await ByteClient(port: relay.ports.http), try await ByteClient(port: relay.ports.http),
                try await ByteClient(port: relay.ports.http)
            )
            let livez = RawRequest("GET /livez HTTP/1.1")
            for client in [idle, slow, busy] { #expect(try await livez.ask(client)?.status == 200) }
            try await slow.send(Array("GET /livez HTTP/1.1\r\nHost: loc".utf8))
            // Longer than the limit: the client owes nothing while the answer is being made.
            let session = try await relay.startSession()
            let wait = RawRequest("GET /screencapture/\(session.id)/wait?until=changed&timeout=4 HTTP/1.1")
            #expect(try await wait.ask(busy)?.code == "wait_timeout")
            for client in [idle, slow] { #expect(try await client.next() == nil) }
        }
    }

    @Test("a call whose answer is not read ends with its connection; others are answered meanwhile")
    func unreadAnswers() async throws {
        try await RunningRelay.run {
            $0.connections.idleTimeout = .seconds(2)
        } _: { relay in
            let client = try await ByteClient(port: relay.ports.http, autoRead: false)
            let count = 2000
            // More than sockets can hold.
            let request = RawRequest("GET /page/player.js HTTP/1.1").bytes
            try await client.send((0..<count).flatMap { _ in request })
            _ = try await eventually("the end of the connection") {
                try await relay.get("/metrics").text.contains("heliograph_connections 1\n") ? true : nil
            }
            // It may have noticed the end on its own.
            try? await client.startReading()
            let answers = String(decoding: try await client.readToEnd(), as: UTF8.self)
            #expect(answers.components(separatedBy: "HTTP/1.1 200").count - 1 < count)
        }
    }
}
