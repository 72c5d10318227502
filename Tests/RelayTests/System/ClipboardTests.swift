import Access
import HeliographAPI
import NIOCore
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A device's clipboard", .serialized)
struct ClipboardTests {
    private static let path = "/v1/devices/default/clipboard"
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0xFF]

    /// Runs a relay with an agent that has a clipboard.
    private func withAgent(
        clipboard: Bool? = true,
        keys: Keys? = nil,
        log: LogRecorder? = nil,
        _ body: @escaping @Sendable (RunningRelay, LinkClient) async throws -> Void
    ) async throws {
        let key = try keys?.make("waiting", .viewer)
        try await RunningRelay.run(log: log) {
            $0.keysFile = keys?.file.path
        } _: { relay in
            let link = try await LinkClient(greeting: relay)
            try await link.send(.inputs(InputCapabilities(backend: "x11", clipboard: clipboard)))
            // The relay has read it when it has read what comes after it.
            try await link.send(.status(SourceStatus(state: .paused)))
            try await link.send(.status(.streaming))
            try await relay.waitForCapabilities(key: key)
            try await body(relay, link)
        }
    }

    private static func put(
        _ relay: RunningRelay,
        _ bytes: [UInt8],
        type: String?,
        query: String = "",
        key: APIKey? = nil
    ) async throws -> RunningRelay.Answer {
        let headers = type.map { [("Content-Type", $0)] } ?? []
        return try await relay.call(.PUT, path + query, key: key, headers: headers, body: bytes)
    }

    @Test("is read as text or as PNG, with its media type")
    func get() async throws {
        let text = Array("Grüße, 日本語 👋\n".utf8)
        try await withAgent { relay, link in
            let calls: [(String, [(String, String)], ClipboardContent)] = [
                ("", [], ClipboardContent(.text, text)),
                ("?type=text", [("Accept", "image/png")], ClipboardContent(.text, [])),
                ("?type=png", [], ClipboardContent(.png, Self.png)),
                ("", [("Accept", "image/png")], ClipboardContent(.png, Self.png)),
                ("", [("Accept", "*/*")], ClipboardContent(.text, text)),
            ]
            for (query, headers, content) in calls {
                async let answer = relay.call(.GET, Self.path + query, headers: headers)
                #expect(try await link.answerClipboard(.content(content)) == .get(content.kind))
                let type = try await answer.headers.first(name: "Content-Type")
                #expect(type == (content.kind == .text ? "text/plain; charset=utf-8" : "image/png"))
                #expect(try await answer.body == content.bytes)
                #expect(try await answer.headers.first(name: "Cache-Control") == "no-store")
            }
            let wrong = try await relay.get(Self.path + "?type=html")
            #expect(wrong.status == 400 && wrong.code == "unknown_value", "\(wrong.text)")
        }
    }

    @Test("is set to the call's text or PNG, as large as each may be")
    func set() async throws {
        let largest = Self.png + Array(repeating: 7, count: ClipboardContent.Kind.png.maximumByteCount - Self.png.count)
        let contents: [(String, ClipboardContent)] = [
            ("text/plain", ClipboardContent(.text, Array("a\u{0}é👋".utf8))),
            ("Text/Plain; charset=UTF-8", ClipboardContent(.text, [])),
            ("text/plain", ClipboardContent(.text, Array(repeating: 0x61, count: 1 << 20))),
            ("image/png", ClipboardContent(.png, largest)),
        ]
        try await withAgent { relay, link in
            for (type, content) in contents {
                async let answer = Self.put(relay, content.bytes, type: type)
                #expect(try await link.answerClipboard(.done) == .set(content))
                let json = try await answer.json
                #expect(json["bytes"] == .integer(content.bytes.count) && json["device"] == "default", "\(json.text)")
                #expect(json["type"] == (content.kind == .text ? "text" : "png"))
            }
            for (bytes, type, status, code) in [
                ([0xFF], "text/plain", 400, "bad_content"), (Array("GIF89a".utf8), "image/png", 400, "bad_content"),
                (Self.png, "image/gif", 400, "bad_content"), (Self.png, nil, 400, "bad_content"),
                (Array(repeating: 0x61, count: 1 << 20 | 1), "text/plain", 413, "body_too_large"),
                (largest + [0], "image/png", 413, "body_too_large"),
            ] as [([UInt8], String?, Int, String)] {
                let answer = try await Self.put(relay, bytes, type: type)
                #expect(answer.status == status && answer.code == code, "\(answer.text)")
            }
        }
    }

    @Test("is set in two calls at once, as large as may be")
    func largeSets() async throws {
        let png = Self.png + [UInt8](repeating: 7, count: (15 << 20))
        try await withAgent { relay, link in
            async let first = Self.put(relay, png, type: "image/png")
            async let second = Self.put(relay, png, type: "image/png")
            for _ in 0..<2 { _ = try await link.answerClipboard(.done) }
            let statuses = [try await first.status, try await second.status]
            #expect(statuses == [200, 200])
        }
    }

    @Test("fails with the agent's reason")
    func refusals() async throws {
        try await withAgent { relay, link in
            let expected: [(ClipboardReport.Refusal, Int, String)] = [
                (.noBackend, 409, "no_input"), (.busy, 409, "too_many_orders"), (.empty, 404, "empty_clipboard"),
                (.tooLarge, 502, "input_failed"), (.malformed, 502, "input_failed"), (.timeout, 504, "input_timeout"),
                (.failed, 502, "input_failed"),
            ]
            #expect(expected.count == ClipboardReport.Refusal.allCases.count)
            for (refusal, status, code) in expected {
                async let answer = relay.get(Self.path)
                _ = try await link.answerClipboard(.refused(refusal, detail: "because"))
                let problem = try await answer
                #expect(problem.status == status && problem.code == code, "\(refusal): \(problem.text)")
                #expect(problem.text.contains("because"))
            }
            // An answer of another kind is none.
            async let other = relay.get(Self.path)
            _ = try await link.answerClipboard(.content(ClipboardContent(.png, Self.png)))
            #expect(try await other.status == 502)
            async let lost = relay.get(Self.path)
            _ = try await link.first { if case .clipboard = $0 { true } else { nil } }
            try await link.close()
            #expect(try await lost.code == "input_failed")
            let gone = try await relay.get(Self.path)
            #expect(gone.status == 409 && gone.code == "no_source", "\(gone.text)")
        }
    }

    @Test("is not used without one, or of an older agent", arguments: [false, nil])
    func missing(clipboard: Bool?) async throws {
        try await withAgent(clipboard: clipboard) { relay, _ in
            let answer = try await relay.get(Self.path)
            #expect(answer.status == 409 && answer.code == "no_input", "\(answer.text)")
            #expect(answer.json["input"]?["clipboard"] == [], "\(answer.text)")
            let set = try await Self.put(relay, [], type: "text/plain")
            #expect(set.code == "no_input", "\(set.text)")
        }
    }

    @Test("is for one controller at a time, and its content is not logged")
    func control() async throws {
        let keys = try Keys()
        let (one, other) = (try keys.make("one", .controller), try keys.make("other", .operator))
        let viewer = try keys.make("watching", .viewer)
        let log = LogRecorder()
        try await withAgent(keys: keys, log: log) { relay, link in
            let forbidden = try await relay.call(.GET, Self.path, key: viewer)
            #expect(forbidden.status == 403 && forbidden.code == "forbidden_role", "\(forbidden.text)")
            async let set = Self.put(relay, Array("secret".utf8), type: "text/plain", key: one)
            _ = try await link.answerClipboard(.done)
            #expect(try await set.status == 200)
            for answer in [
                try await relay.call(.GET, Self.path, key: other),
                try await Self.put(relay, Array("secret".utf8), type: "text/plain", key: other),
            ] {
                #expect(answer.status == 409 && answer.code == "controlled", "\(answer.text)")
                #expect(answer.json["controller"] == "one")
            }
            async let taken = relay.call(.GET, Self.path + "?take=true", key: other)
            _ = try await link.answerClipboard(.content(ClipboardContent(.text, Array("secret".utf8))))
            #expect(try await taken.text == "secret")
        }
        let lines = log.lines.filter { $0.message == "audit" && $0.metadata["bytes"] == "6" }
        #expect(Set(lines.compactMap { $0.metadata["key"] }) == ["one", "other"], "\(lines)")
        #expect(lines.allSatisfy { $0.metadata["type"] == "text" && $0.metadata["device"] == "default" })
        #expect(log.lines.contains { $0.metadata["key"] == "watching" && $0.metadata["code"] == "forbidden_role" })
        #expect(!log.lines.contains { "\($0)".contains("secret") }, "no content is logged")
    }

    @Test("is not read for pages of other sites, also not by a link")
    func otherSites() async throws {
        try await withAgent { relay, _ in
            let headers = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "document")]
            let answer = try await relay.call(.GET, Self.path + "?take=true", headers: headers)
            #expect(answer.status == 403 && answer.code == "forbidden_origin", "\(answer.text)")
        }
    }

    @Test("is for the relay's own user without keys, without a proxy")
    func proxies() async throws {
        try await withAgent { relay, _ in
            let headers = [("X-Forwarded-For", "192.0.2.1"), ("Content-Type", "text/plain")]
            for answer in [
                try await relay.call(.GET, Self.path, headers: headers),
                try await relay.call(.PUT, Self.path, headers: headers, body: []),
            ] {
                #expect(answer.status == 403 && answer.code == "forbidden_caller", "\(answer.text)")
            }
        }
    }
}
