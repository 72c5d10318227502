import HeliographAPI
import NIOCore
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("A WebSocket's handshake")
struct WebSocketHandshakeTests {
    struct Refusal: Sendable, CustomTestStringConvertible {
        var path = "/screencapture/1/ws"
        var headers: [String: String] = [:]
        let status: Int
        let code: String

        var testDescription: String { "\(path) \(headers) is \(status) \(code)" }
    }

    private static let refusals = [
        Refusal(path: "/screencapture/9/ws", status: 404, code: "unknown_session"),
        Refusal(path: "/screencapture/x/ws", status: 404, code: "unknown_session"),
        Refusal(path: "/screencapture/1/wss", status: 404, code: "unknown_route"),
        Refusal(headers: ["Origin": "http://evil.example"], status: 403, code: "forbidden_origin"),
        Refusal(headers: ["Origin": "null"], status: 403, code: "forbidden_origin"),
        Refusal(headers: ["Host": "evil.example"], status: 403, code: "forbidden_origin"),
        Refusal(headers: ["Upgrade": ""], status: 426, code: "upgrade_required"),
        Refusal(headers: ["Upgrade": "h2c"], status: 426, code: "upgrade_required"),
        Refusal(headers: ["Sec-WebSocket-Key": ""], status: 426, code: "upgrade_required"),
        Refusal(headers: ["Sec-WebSocket-Version": "8"], status: 426, code: "upgrade_required"),
        Refusal(headers: ["Connection": "keep-alive"], status: 426, code: "upgrade_required"),
    ]

    @Test("that is refused is answered by a problem")
    func refused() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            #expect(session.id == 1)
            for refusal in Self.refusals {
                let client = try await WebSocketClient(
                    port: relay.ports.http,
                    path: refusal.path,
                    headers: refusal.headers
                )
                #expect(client.answer.hasPrefix("HTTP/1.1 \(refusal.status) "), "\(refusal)")
                let body = try await client.read(until: "}")
                #expect(body.contains("\"code\":\"\(refusal.code)\""), "\(refusal): \(body)")
                // The relay may have done this already.
                try? await client.close()
            }
        }
    }

    @Test("of the relay's own page, and of programs, is accepted")
    func accepted() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let origin = "http://127.0.0.1:\(relay.ports.http)"
            for headers in [[:], ["Origin": origin], ["Connection": "keep-alive, Upgrade", "Upgrade": "WebSocket"]] {
                let client = try await WebSocketClient(relay, session: session.id, headers: headers)
                #expect(client.wasUpgraded, "\(headers): \(client.answer)")
                try await client.close()
            }
        }
    }

    @Test("for another protocol is none: the request is answered, body and all")
    func otherUpgrade() async throws {
        try await RunningRelay.run { relay in
            let answer = try await relay.call(
                .POST,
                "/screencapture/start",
                headers: [("Upgrade", "h2c"), ("Connection", "Upgrade, HTTP2-Settings")],
                body: Array("{\"label\":\"desk\"}".utf8)
            )
            #expect(answer.status == 201)
            #expect(answer.json["label"] == "desk")
        }
    }

    @Test("of one viewer too many is refused")
    func tooMany() async throws {
        try await RunningRelay.run {
            $0.devices[0].maximumViewers = 1
        } _: { relay in
            let session = try await relay.startSession()
            let first = try await WebSocketClient(relay, session: session.id)
            try await relay.waitForViewers(1, of: session.id)
            let second = try await WebSocketClient(relay, session: session.id)
            #expect(second.answer.hasPrefix("HTTP/1.1 503 "))
            #expect(first.wasUpgraded)
        }
    }

    @Test("that takes too long is ended, and others are not disturbed")
    func slow() async throws {
        try await RunningRelay.run {
            $0.connections.requestTimeout = .seconds(2)
        } _: { relay in
            let session = try await relay.startSession()
            let viewer = try await WebSocketClient(relay, session: session.id)
            let slow = try await ByteClient(port: relay.ports.http)
            try await slow.send(Array("GET /screencapture/1/ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgr".utf8))
            let answer = String(decoding: try await slow.readToEnd(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 408 "))
            try await viewer.send(#"{"type":"clock","id":1}"#)
            let clock = try await viewer.event("clock")
            #expect(clock["id"] == 1, "\(clock.text)")
        }
    }

    @Test("bytes that are not HTTP are refused")
    func noHTTP() async throws {
        try await RunningRelay.run { relay in
            let client = try await ByteClient(port: relay.ports.http)
            try await client.send(Array("\u{16}\u{3}\u{1} what\r\n\r\n".utf8))
            let answer = try #require(try await RawRequest.answer(from: client))
            #expect(answer.status == 400)
            #expect(answer.code == "http_error")
        }
    }
}
