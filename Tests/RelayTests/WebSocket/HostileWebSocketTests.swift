import HeliographAPI
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A hostile WebSocket")
struct HostileWebSocketTests {
    private typealias Opcode = WebSocketClient.Opcode

    struct Breach: Sendable, CustomTestStringConvertible {
        let what: String
        let bytes: [UInt8]
        let code: Int

        var testDescription: String { "\(what): \(code)" }
    }

    private static func text(_ text: String) -> [UInt8] { WebSocketClient.frame(first: 0x81, Array(text.utf8)) }

    private static let breaches: [Breach] = [
        Breach(what: "unmasked", bytes: [0x81, 1, 65], code: 1002),
        Breach(what: "a reserved bit", bytes: WebSocketClient.frame(first: 0xC1, [65]), code: 1002),
        Breach(what: "a reserved opcode", bytes: WebSocketClient.frame(first: 0x83, [65]), code: 1002),
        Breach(what: "a fragmented ping", bytes: WebSocketClient.frame(first: 0x09, [65]), code: 1002),
        Breach(
            what: "a long ping",
            bytes: WebSocketClient.frame(first: 0x89, [UInt8](repeating: 1, count: 126)),
            code: 1002
        ),
        Breach(what: "input that is cut off", bytes: WebSocketClient.frame(first: 0x82, [1]), code: 1008),
        Breach(
            what: "input of 4097 bytes",
            bytes: WebSocketClient.frame(first: 0x82, [UInt8](repeating: 9, count: 4097)),
            code: 1009
        ),
        Breach(what: "no UTF-8", bytes: WebSocketClient.frame(first: 0x81, [0xFF]), code: 1007),
        Breach(
            what: "a message of 4097 bytes",
            bytes: WebSocketClient.frame(first: 0x81, [UInt8](repeating: 65, count: 4097)),
            code: 1009
        ),
        Breach(what: "2^63 bytes announced", bytes: [0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], code: 1009),
        Breach(what: "4 GiB announced", bytes: [0x81, 0xFF, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4], code: 1009),
        Breach(
            what: "fragments of 4097 bytes together",
            bytes: WebSocketClient.frame(first: 0x01, [UInt8](repeating: 65, count: 4000))
                + WebSocketClient.frame(first: 0x80, [UInt8](repeating: 65, count: 97)),
            code: 1009
        ),
        Breach(what: "a fragment without a beginning", bytes: WebSocketClient.frame(first: 0x80, [65]), code: 1002),
        Breach(
            what: "a message inside another",
            bytes: WebSocketClient.frame(first: 0x01, [65]) + WebSocketClient.frame(first: 0x81, [65]),
            code: 1002
        ),
        Breach(what: "a Close of one byte", bytes: WebSocketClient.frame(first: 0x88, [3]), code: 1002),
        Breach(what: "a Close that says 1005", bytes: WebSocketClient.frame(first: 0x88, [0x03, 0xED]), code: 1002),
        Breach(
            what: "a Close whose reason is not UTF-8",
            bytes: WebSocketClient.frame(first: 0x88, [0x03, 0xE8, 0xFF]),
            code: 1007
        ),
        Breach(
            what: "another HTTP request",
            bytes: Array(
                "GET /screencapture HTTP/1.1\r\nHost: localhost\r\nUser-Agent: one that has not understood\r\n\r\n".utf8
            ),
            code: 1002
        ),
        Breach(what: "no JSON", bytes: text("hello"), code: 1008),
        Breach(what: "no type", bytes: text("{}"), code: 1008),
        Breach(what: "ack without pts", bytes: text(#"{"type":"ack"}"#), code: 1008),
    ]

    @Test("is closed with the right code, while another viewer gets every picture")
    func breaches() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let agent = try await LinkClient(greeting: relay)
            let viewer = try await WebSocketClient(relay, session: session.id)
            try await relay.waitForViewers(1, of: session.id)
            for (number, breach) in Self.breaches.enumerated() {
                let hostile = try await WebSocketClient(relay, session: session.id)
                try await hostile.send(bytes: breach.bytes)
                #expect(try await hostile.closeCode() == breach.code, "\(breach)")
                try await agent.send([SampleStream.accessUnit(number, key: number == 0)], session: session.id)
                _ = try await viewer.first("picture \(number)") { frame in
                    frame.opcode == Opcode.binary && frame.payload.suffix(40).contains(UInt8(number | 0x80))
                        ? true : nil
                }
            }
            try await relay.waitForViewers(1, of: session.id)
        }
    }

    @Test(
        "that announces a body with its upgrade is refused as any request is, and does not keep its place",
        arguments: ["Content-Length: 5", "Transfer-Encoding: chunked"]
    )
    func announcedBody(header: String) async throws {
        try await RunningRelay.run {
            $0.connections.maximumPerAddress = 8
            // Longer than a busy machine needs to send a request.
            $0.connections.requestTimeout = .seconds(5)
        } _: { relay in
            let session = try await relay.startSession()
            var silent: [ByteClient] = []
            for _ in 0..<7 {
                let client = try await ByteClient(port: relay.ports.http, from: "127.0.0.2")
                let request = RawRequest(
                    "GET /screencapture/\(session.id)/ws HTTP/1.1",
                    "Upgrade: websocket",
                    "Connection: Upgrade",
                    "Sec-WebSocket-Version: 13",
                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                    header
                )
                let answer = try #require(try await request.ask(client))
                #expect(answer.status == 400 && answer.code == "http_error")
                silent.append(client)
            }
            for client in silent { _ = try await client.readToEnd() }
            _ = try await eventually("places for others") { () -> Bool? in
                let metrics = try await relay.get("/metrics").text
                // The client that asks has its own connection.
                return metrics.contains("heliograph_connections 1\n") ? true : nil
            }
        }
    }

    @Test("gets nothing after the Close, however much is on its way")
    func nothingBehindClose() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let agent = try await LinkClient(greeting: relay)
            for round in 0..<10 {
                let hostile = try await WebSocketClient(relay, session: session.id)
                try await relay.waitForViewers(1, of: session.id)
                let units = (0..<100).map { SampleStream.accessUnit(round * 100 + $0, key: $0 == 0, size: 2000) }
                try await hostile.send(bytes: WebSocketClient.frame(first: 0x82, [1]))
                try await agent.send(units, session: session.id)
                #expect(try await hostile.closeCode() == 1008)
                try await relay.waitForViewers(0, of: session.id)
            }
        }
    }

    @Test("that floods is closed with 1008")
    func flood() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let hostile = try await WebSocketClient(relay, session: session.id)
            let message = Self.text(#"{"type":"clock","id":1}"#)
            try await hostile.send(bytes: (0..<3000).flatMap { _ in message })
            #expect(try await hostile.closeCode() == 1008)
        }
    }

    /// Answers pings until the connection ends.
    private static func answering(_ client: WebSocketClient) -> Task<Void, any Error> {
        Task {
            while let frame = try await client.next() {
                if frame.opcode == Opcode.ping { try await client.send(Opcode.pong, frame.payload) }
            }
        }
    }

    /// Waits until this many have been admitted, even if some are gone again.
    private static func waitForAdmission(of count: Int, to session: SessionID, _ relay: RunningRelay) async throws {
        _ = try await eventually("\(count) viewers let in") {
            try await relay.session(session)["counters"]?["relay"]?["viewersAdmitted"] == .integer(count) ? true : nil
        }
    }

    @Test("without answers to pings is closed; one that answers stays")
    func noPong() async throws {
        try await RunningRelay.run {
            $0.webSocket.pingInterval = .milliseconds(500)
            // Longer than a busy machine delays a client that answers.
            $0.webSocket.pongTimeout = .seconds(5)
        } _: { relay in
            let session = try await relay.startSession()
            let alive = try await WebSocketClient(relay, session: session.id)
            let answering = Self.answering(alive)
            let silent = try await WebSocketClient(relay, session: session.id)
            try await Self.waitForAdmission(of: 2, to: session.id, relay)
            // It reads, but that does not suffice.
            #expect(try await silent.lastFrame()?.opcode != Opcode.close)
            try await relay.waitForViewers(1, of: session.id)
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            try await answering.value
        }
    }

    @Test("that closes only its sending side, or vanishes, is gone")
    func halfOpen() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let half = try await WebSocketClient(relay, session: session.id)
            try await relay.waitForViewers(1, of: session.id)
            try await half.closeOutput()
            while try await half.next() != nil {}
            try await relay.waitForViewers(0, of: session.id)
            let polite = try await WebSocketClient(relay, session: session.id)
            try await polite.send(Opcode.close, [0x03, 0xE8])
            #expect(try await polite.closeCode() == 1000)
            try await relay.waitForViewers(0, of: session.id)
        }
    }

    @Test("that sends half a frame and no more, or is reset in the middle of one, is gone; another stays")
    func halfFrame() async throws {
        try await RunningRelay.run {
            $0.webSocket.pingInterval = .milliseconds(300)
            // Longer than a busy machine delays a client that answers.
            $0.webSocket.pongTimeout = .seconds(5)
        } _: { relay in
            let session = try await relay.startSession()
            let alive = try await WebSocketClient(relay, session: session.id)
            let answering = Self.answering(alive)
            let half = try await WebSocketClient(relay, session: session.id)
            let gone = try await WebSocketClient(relay, session: session.id)
            try await Self.waitForAdmission(of: 3, to: session.id, relay)
            // 100 bytes are announced, but only three come.
            for client in [half, gone] { try await client.send(bytes: [0x81, 0x80 | 100, 1, 2, 3, 4, 65, 66, 67]) }
            try await gone.close()
            #expect(try await half.lastFrame()?.opcode != Opcode.close, "nobody is there to be told")
            try await relay.waitForViewers(1, of: session.id)
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            try await answering.value
        }
    }

    @Test(
        "is refused if its handshake is slow, and many of those disturb no viewer",
        .timeLimit(.minutes(2))
    )
    func slowHandshakes() async throws {
        try await RunningRelay.run {
            $0.connections.requestTimeout = .seconds(1)
            // The viewer does not answer pings.
            $0.webSocket.pongTimeout = .seconds(60)
        } _: { relay in
            let session = try await relay.startSession()
            let agent = try await LinkClient(greeting: relay)
            let viewer = try await WebSocketClient(relay, session: session.id)
            try await relay.waitForViewers(1, of: session.id)
            var slow: [ByteClient] = []
            for _ in 0..<50 { slow.append(try await ByteClient(port: relay.ports.http)) }
            let head = Array("GET /screencapture/\(session.id)/ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websoc".utf8)
            for (number, byte) in head.enumerated() {
                // Connections that were closed meanwhile accept nothing more.
                for client in slow { try? await client.send([byte]) }
                try await agent.send([SampleStream.accessUnit(number, key: number == 0)], session: session.id)
                _ = try await viewer.first("picture \(number)") { frame in
                    frame.opcode == Opcode.binary && frame.payload.suffix(40).contains(UInt8(number & 0x7F | 0x80))
                        ? true : nil
                }
            }
            for client in slow {
                let answer = String(decoding: try await client.readToEnd(), as: UTF8.self)
                #expect(answer.hasPrefix("HTTP/1.1 408 "))
            }
            try await relay.waitForViewers(1, of: session.id)
        }
    }
}
