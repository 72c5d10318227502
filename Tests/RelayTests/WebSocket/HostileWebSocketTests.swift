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
        Breach(what: "binary", bytes: WebSocketClient.frame(first: 0x82, [1]), code: 1003),
        Breach(what: "no UTF-8", bytes: WebSocketClient.frame(first: 0x81, [0xFF]), code: 1007),
        Breach(
            what: "a message of 4097 bytes",
            bytes: WebSocketClient.frame(first: 0x81, [UInt8](repeating: 65, count: 4097)),
            code: 1009
        ),
        Breach(what: "2^63 bytes announced", bytes: [0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], code: 1009),
        Breach(what: "4 GiB announced", bytes: [0x81, 0xFF, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4], code: 1009),
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

    @Test("gets nothing behind the Close, however much is on its way")
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
                #expect(try await hostile.closeCode() == 1003)
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
            try await hostile.send(bytes: (0..<1000).flatMap { _ in message })
            #expect(try await hostile.closeCode() == 1008)
        }
    }

    @Test("that answers no ping is dropped; one that does stays")
    func noPong() async throws {
        try await RunningRelay.run {
            $0.webSocket.pingInterval = .milliseconds(500)
            $0.webSocket.pongTimeout = .milliseconds(1500)
        } _: { relay in
            let session = try await relay.startSession()
            let silent = try await WebSocketClient(relay, session: session.id)
            let alive = try await WebSocketClient(relay, session: session.id)
            try await relay.waitForViewers(2, of: session.id)
            let answering = Task {
                while let frame = try await alive.next() {
                    if frame.opcode == Opcode.ping { try await alive.send(Opcode.pong, frame.payload) }
                }
            }
            // It reads, and that is not enough.
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
}
