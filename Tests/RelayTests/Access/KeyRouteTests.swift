import Access
import Foundation
import HeliographAPI
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("Keys over the API")
struct KeyRouteTests {
    private let keys: Keys

    init() throws { keys = try Keys() }

    private static func make(
        _ relay: RunningRelay,
        _ body: JSONValue,
        key: APIKey? = nil
    ) async throws -> RunningRelay.Answer {
        try await relay.call(.POST, "/v1/keys", key: key, body: Array(body.text.utf8))
    }

    @Test("are made, shown once, listed and revoked by an operator")
    func course() async throws {
        let boss = try keys.make("boss", .operator)
        let log = LogRecorder()
        let file = keys.file
        try await RunningRelay.run(keys: keys, log: log) { relay in
            let wish: JSONValue = ["name": "ann", "role": "controller", "devices": ["default", "left"], "library": []]
            let made = try await Self.make(relay, wish, key: boss)
            #expect(made.status == 201, "\(made.text)")
            let key = try #require(made.json["key"]?.string.flatMap { APIKey($0) })
            let caller = try await relay.call(.GET, "/v1/auth", key: key).json
            #expect(caller["name"] == "ann" && caller["role"] == "controller" && caller["library"] == .array([]))
            #expect(caller["devices"] == ["default", "left"])

            let list = try await relay.call(.GET, "/v1/keys", key: boss)
            #expect(list.json["access"] == true && !list.text.contains(key.text))
            #expect(list.text.contains("\"ann\"") && list.text.contains("\"boss\""))
            let again = try await Self.make(relay, wish, key: boss)
            #expect(again.status == 409 && again.code == "key_name_taken", "\(again.text)")

            let gone = try await relay.call(.DELETE, "/v1/keys/ann", key: boss)
            #expect(gone.status == 200 && gone.json["role"] == "controller", "\(gone.text)")
            #expect(try await relay.call(.GET, "/v1/auth", key: key).code == "wrong_key")
            #expect(try await relay.call(.DELETE, "/v1/keys/ann", key: boss).code == "unknown_key")
            #expect(try file.read()?.keys.map(\.name) == ["boss"])
            // Its own call is answered, too.
            #expect(try await relay.call(.DELETE, "/v1/keys/boss", key: boss).status == 200)
            #expect(try await relay.call(.GET, "/v1/keys", key: boss).code == "wrong_key")
            #expect(!log.lines.contains { "\($0)".contains(key.text) })
            #expect(log.lines.contains { $0.message == "audit" && $0.metadata["name"] == "ann" })
        }
    }

    @Test("end by themselves: calls are refused without a guess being counted, and streams end")
    func expiry() async throws {
        let boss = try keys.make("boss", .operator)
        let (keys, file) = (keys, keys.file)
        func make(_ name: String, for time: TimeInterval) throws -> APIKey {
            try file.change { ring throws(KeyFileError) in
                try ring.make(name, KeyRing.Terms(.operator, expires: Date() + time), at: Date())
            }
        }
        let past = try make("past", for: -1)
        let brief = try make("brief", for: 3600)
        try await RunningRelay.run(keys: keys) { relay in
            for _ in 0..<15 {
                let answer = try await relay.call(.GET, "/v1/auth", key: past)
                #expect(answer.code == "wrong_key" && answer.text.contains("has expired"), "\(answer.text)")
            }
            // What it makes ends with it, or earlier.
            for (wish, hours): (JSONValue, ClosedRange<Double>) in [
                (["name": "a"], 0.9...1), (["name": "b", "days": 2], 0.9...1),
            ] {
                let made = try await Self.make(relay, wish, key: brief)
                let end = try #require(made.json["expires"]?.string.flatMap { try? Date($0, strategy: .iso8601) })
                #expect(hours.contains(end.timeIntervalSinceNow / 3600), "\(made.text)")
            }
            let made = try await Self.make(relay, ["name": "c", "days": 2], key: boss)
            let end = try #require(made.json["expires"]?.string.flatMap { try? Date($0, strategy: .iso8601) })
            #expect(47...48 ~= end.timeIntervalSinceNow / 3600)

            let soon = try file.change { ring throws(KeyFileError) in
                try ring.make("soon", KeyRing.Terms(.viewer, expires: Date() + 2), at: Date())
            }
            let stream = try await ByteClient(port: relay.ports.http)
            let head = "GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(soon.text)\r\n\r\n"
            try await stream.send(Array(head.utf8))
            let text = String(decoding: try await stream.readToEnd(), as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 200 "), "\(text)")
        }
    }

    @Test("cannot be given by those who lack them: other roles, keys of some devices, and rights in the library")
    func rights() async throws {
        let limited = try keys.make("limited", .operator, library: [.look])
        let viewer = try keys.make("viewer", .viewer)
        let left = try keys.make("left", .operator, devices: ["left"])
        let file = keys.file
        try await RunningRelay.run(keys: keys) { relay in
            let plain: JSONValue = ["name": "new"]
            #expect(try await Self.make(relay, plain, key: viewer).code == "forbidden_role")
            #expect(try await Self.make(relay, plain, key: left).code == "forbidden_device")
            #expect(try await Self.make(relay, plain).code == "missing_key")
            for wish: JSONValue in [
                ["name": "new", "role": "operator"], ["name": "new", "library": ["look", "delete"]],
            ] {
                #expect(try await Self.make(relay, wish, key: limited).code == "forbidden_library")
            }
            let bad: [(JSONValue, String)] = [
                (["role": "viewer"], "missing_field"), (["name": "a b"], "unknown_value"),
                (["name": "a", "role": "king"], "unknown_value"), (["name": "a", "devices": []], "out_of_range"),
            ]
            for (wish, code) in bad {
                let answer = try await Self.make(relay, wish, key: limited)
                #expect(answer.code == code, "\(wish.text): \(answer.text)")
            }
            #expect(try await Self.make(relay, plain, key: limited).status == 201)
            #expect(try file.read()?.keys.map(\.name) == ["limited", "viewer", "left", "new"])
        }
    }

    @Test("begin with the first, which turns access control on")
    func first() async throws {
        try await RunningRelay.run(keys: keys) { relay in
            let before = try await relay.get("/v1/keys").json
            #expect(before["access"] == false && before["keys"] == .array([]))
            let body = Array(#"{"name": "boss", "role": "operator"}"#.utf8)
            let proxied = [("X-Forwarded-For", "203.0.113.1")]
            let refused = try await relay.call(.POST, "/v1/keys", headers: proxied, body: body)
            #expect(refused.code == "forbidden_caller", "\(refused.text)")
            let made = try await relay.call(.POST, "/v1/keys", body: body)
            let key = try #require(made.json["key"]?.string.flatMap { APIKey($0) })
            #expect(try await relay.get("/v1/keys").code == "missing_key")
            #expect(try await relay.call(.GET, "/v1/keys", key: key).json["access"] == true)
        }
    }

    @Test("need a file that the relay can write")
    func noFile() async throws {
        try await RunningRelay.run { relay in
            let answer = try await Self.make(relay, ["name": "boss"])
            #expect(answer.status == 409 && answer.code == "keys_unavailable", "\(answer.text)")
            #expect(answer.text.contains("keysFile"))
        }
    }
}
