import Access
import Foundation
import HeliographAPI
import Logging
import Media
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("Access with keys")
struct AccessTests {
    @Test("GET /auth says whose key it is, and of which relay")
    func auth() async throws {
        let keys = try Keys()
        let key = try keys.make("wall", .viewer)
        try await RunningRelay.run(keys: keys) { relay in
            let answer = try await relay.call(.GET, "/auth", key: key)
            #expect(answer.status == 200)
            #expect(answer.json["access"] == true)
            #expect(answer.json["name"] == "wall")
            #expect(answer.json["role"] == "viewer")
            let name = try String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)
            #expect(answer.json["host"] == .string(name.trimmingCharacters(in: .newlines)))
            #expect(answer.json["release"] != nil)
            let none = try await relay.get("/auth")
            #expect(none.status == 401)
            #expect(none.headers["www-authenticate"] == ["Bearer realm=\"heliograph\""])
            let wrong = try await relay.call(.GET, "/auth", key: .random())
            #expect(wrong.status == 401 && wrong.code == "wrong_key")
            #expect(wrong.headers["www-authenticate"].first?.contains("invalid_token") == true)
            for header in ["Basic d2FsbDp4", "Bearer", "Bearer a b", key.text] {
                let answer = try await relay.call(.GET, "/auth", headers: [("Authorization", header)])
                #expect(answer.code == "wrong_key", "\(header)")
            }
            let metrics = try await relay.call(.GET, "/metrics", key: key)
            #expect(metrics.text.contains("heliograph_calls_refused_total{code=\"wrong_key\"} 5"))
        }
    }

    @Test("turns on with the first key, and holds what is made and revoked at once, without a restart")
    func withoutRestart() async throws {
        let keys = try Keys()
        try await RunningRelay.run(keys: keys) { relay in
            #expect(try await relay.get("/screencapture").status == 200)
            let first = try keys.make("ci", .operator)
            #expect(try await relay.get("/screencapture").code == "missing_key")
            #expect(try await relay.call(.GET, "/screencapture", key: first).status == 200)
            let second = try keys.make("wall", .viewer)
            #expect(try await relay.call(.GET, "/screencapture", key: second).status == 200)
            try keys.revoke("ci")
            #expect(try await relay.call(.GET, "/screencapture", key: first).code == "wrong_key")
            #expect(try await relay.call(.GET, "/screencapture", key: second).status == 200)
            try keys.revoke("wall")
            #expect(try await relay.get("/screencapture").code == "missing_key", "without keys it stays on")
        }
    }

    @Test("keeps the former keys when the file is damaged, and admits nobody when it is gone")
    func brokenFile() async throws {
        let keys = try Keys()
        let key = try keys.make("ci", .operator)
        let log = LogRecorder()
        try await RunningRelay.run(keys: keys, log: log) { relay in
            #expect(try await relay.call(.GET, "/auth", key: key).status == 200)
            try "{".write(toFile: keys.file.path, atomically: false, encoding: .utf8)
            #expect(try await relay.call(.GET, "/auth", key: key).status == 200)
            #expect(log.lines.filter { $0.message.contains("is damaged") }.count == 1)
            try FileManager.default.removeItem(atPath: keys.file.path)
            #expect(try await relay.call(.GET, "/auth", key: key).code == "wrong_key")
            #expect(try await relay.get("/auth").code == "missing_key")
            #expect(log.lines.contains { $0.message.contains("is gone") })
        }
        #expect(!log.lines.contains { "\($0)".contains(key.text) }, "no key is logged")
    }

    @Test("refuses to start with a key file that cannot be read")
    func unreadable() async throws {
        let keys = try Keys()
        _ = try keys.make("ci", .operator)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: keys.file.path)
        let error = await #expect(throws: RelayStartError.self) {
            try await RunningRelay.run(keys: keys) { _ in
                Issue.record("it started")
            }
        }
        #expect(error == .keys(.open(path: keys.file.path, mode: 0o644)))
    }

    @Test("ends streams and WebSockets of a key that is revoked, and no others")
    func endsStreams() async throws {
        let keys = try Keys()
        let (gone, stays) = (try keys.make("gone", .viewer), try keys.make("stays", .operator))
        try await RunningRelay.run(keys: keys) { relay in
            let started = try await relay.call(.POST, "/screencapture/start", key: stays)
            #expect(started.status == 201)
            func stream(_ key: APIKey) async throws -> ByteClient {
                let client = try await ByteClient(port: relay.ports.http)
                let head = "GET /screencapture/1/stream.h264 HTTP/1.1\r\nHost: localhost\r\n"
                try await client.send(Array("\(head)Authorization: Bearer \(key.text)\r\n\r\n".utf8))
                #expect(String(decoding: try await client.read(12), as: UTF8.self).hasPrefix("HTTP/1.1 200"))
                return client
            }
            func webSocket(_ key: APIKey) async throws -> WebSocketClient {
                let headers = ["Authorization": "Bearer \(key.text)"]
                let client = try await WebSocketClient(relay, session: 1, headers: headers)
                #expect(client.wasUpgraded)
                return client
            }
            let (streamGone, streamStays) = (try await stream(gone), try await stream(stays))
            let (socketGone, socketStays) = (try await webSocket(gone), try await webSocket(stays))
            func waitForViewers(_ count: Int) async throws {
                _ = try await eventually("\(count) viewers") {
                    let session = try await relay.call(.GET, "/screencapture/1", key: stays).json
                    return session["viewers"] == .integer(count) ? true : nil
                }
            }
            try await waitForViewers(4)
            try keys.revoke("gone")
            _ = try await streamGone.readToEnd()
            while try await socketGone.next() != nil {}
            try await waitForViewers(2)
            try await streamStays.close()
            try await socketStays.close()
        }
    }

    @Test("ends streams without a key when the first key is made; a session's port on loopback needs none")
    func firstKeyEndsStreams() async throws {
        let keys = try Keys()
        try await RunningRelay.run(keys: keys) { relay in
            let session = try await relay.startSession(["repeat": false])
            let stream = try await ByteClient(port: relay.ports.http)
            try await stream.send(RawRequest("GET /screencapture/1/stream.h264 HTTP/1.1").bytes)
            let socket = try await WebSocketClient(relay, session: session.id)
            let port = try await ByteClient(port: session.port)
            try await relay.waitForViewers(3, of: session.id)
            let key = try keys.make("ci", .operator)
            _ = try await stream.readToEnd()
            while try await socket.next() != nil {}
            _ = try await eventually("the port's viewer alone") {
                let session = try await relay.call(.GET, "/screencapture/1", key: key).json
                return session["viewers"] == .integer(1) ? true : nil
            }
            let link = try await LinkClient(greeting: relay)
            let unit = SampleStream.accessUnit(0, key: true)
            try await link.send([unit], session: session.id)
            #expect(try await port.read(unit.bytes.count) == unit.bytes)
        }
    }

    @Test("limits wrong keys from an address, and never holds up right ones")
    func failures() async throws {
        let keys = try Keys()
        let key = try keys.make("ci", .operator)
        try await RunningRelay.run(keys: keys) { relay in
            var answers: [RunningRelay.Answer] = []
            for _ in 0..<20 { answers.append(try await relay.call(.GET, "/auth", key: .random())) }
            #expect(answers.prefix(10).allSatisfy { $0.code == "wrong_key" })
            let last = try #require(answers.last)
            #expect(last.status == 429)
            #expect(last.code == "too_many_failures")
            #expect(last.headers["content-type"] == ["application/problem+json"])
            let wait = try #require(last.headers["retry-after"].first.flatMap { Int($0) })
            #expect(1...60 ~= wait)
            #expect(try await relay.call(.GET, "/auth", key: key).status == 200)
            #expect(try await relay.get("/auth").code == "missing_key")
            var logins: [Int] = []
            // On a busy machine one may have been given back meanwhile.
            for _ in 0..<5 { logins.append(try await relay.post("/auth/login", ["key": "nonsense"]).status) }
            #expect(logins.contains(429) && logins.allSatisfy { $0 == 401 || $0 == 429 })
        }
    }

    @Test("logs every call that changes something: who, what, and the answer")
    func audit() async throws {
        let keys = try Keys()
        let (viewer, op) = (try keys.make("wall", .viewer), try keys.make("ci", .operator))
        let log = LogRecorder()
        try await RunningRelay.run(keys: keys, log: log) { relay in
            _ = try await relay.call(.POST, "/screencapture/start", key: op)
            _ = try await relay.call(.PATCH, "/screencapture/1", key: op, body: Array("{\"fps\":10}".utf8))
            _ = try await relay.call(.POST, "/screencapture/1/stop", key: viewer)
            _ = try await relay.call(.POST, "/screencapture/7/stop", key: op)
            _ = try await relay.call(.GET, "/screencapture", key: op)
            _ = try await relay.post("/auth/login", ["key": .string(op.text)])
        }
        let lines = log.lines.filter { $0.message == "audit" }.map(\.metadata)
        #expect(lines.count == 5, "\(lines)")
        #expect(lines.allSatisfy { $0["address"] == "127.0.0.1" })
        let facts = lines.map { line in
            ["call", "key", "role", "status", "code", "session", "device"].map { line[$0] ?? "-" }.joined(
                separator: " "
            )
        }
        #expect(
            facts == [
                "POST /screencapture/start ci operator 201 - 1 default",
                "PATCH /screencapture/1 ci operator 200 - 1 default",
                "POST /screencapture/1/stop wall viewer 403 forbidden_role - -",
                "POST /screencapture/7/stop ci operator 404 unknown_session - -",
                "POST /auth/login ci - 200 - - -",
            ]
        )
        for key in [viewer, op] { #expect(!log.lines.contains { "\($0)".contains(key.text) }, "no key is logged") }
    }

    @Test("is not off where the key file cannot be looked at")
    func unreachable() async throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let loop = scratch.file("loop").path
        try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
        await #expect(throws: RelayStartError.self) {
            try await RunningRelay.run {
                $0.keysFile = loop + "/keys.json"
            } _: { _ in
                Issue.record("it started")
            }
        }
        let folder = scratch.file("keys").path
        try await RunningRelay.run {
            $0.keysFile = folder + "/keys.json"
        } _: { relay in
            #expect(try await relay.get("/screencapture").status == 200)
            try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: folder)
            #expect(try await relay.get("/screencapture").code == "missing_key")
        }
    }

    @Test("what callers without a key do fills no log")
    func strangers() async throws {
        let keys = try Keys()
        let key = try keys.make("ci", .operator)
        let log = LogRecorder()
        try await RunningRelay.run(keys: keys, log: log) { relay in
            let client = try await ByteClient(port: relay.ports.http)
            let head = "POST /auth/logout HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
            let began = ContinuousClock.now
            for _ in 0..<999 { try await client.send(Array("\(head)\r\n".utf8)) }
            try await client.send(Array("\(head)Connection: close\r\n\r\n".utf8))
            _ = try await client.readToEnd()
            let seconds = (ContinuousClock.now - began).components.seconds + 1
            let lines = log.lines.filter { $0.message == "audit" }.count
            #expect(lines >= 200 && lines <= min(999, 200 + 20 * Int(seconds)), "\(lines) lines in \(seconds) s")
            #expect(try await relay.call(.POST, "/screencapture/stop", key: key).status == 200)
            #expect(log.lines.contains { $0.message == "audit" && $0.metadata["key"] == "ci" }, "a caller with one")
        }
    }

    @Test("tells the session and device of every call that is about one, and none that there is not")
    func subjects() async throws {
        let log = LogRecorder()
        try await RunningRelay.run(log: log) { relay in
            let session = try await relay.startSession()
            _ = try await relay.patch("/screencapture/\(session.id)", ["fps": 5])
            _ = try await relay.post("/screencapture/\(session.id)/keyframe")
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            _ = try await relay.post("/screencapture/stop", ["device": "x\nkey=admin"])
        }
        let lines = log.lines.filter { $0.message == "audit" }
        #expect(lines.count == 5)
        for line in lines.prefix(4) {
            #expect(line.metadata["device"] == "default" && line.metadata["session"] == "1", "\(line)")
        }
        #expect(lines.last?.metadata["code"] == "unknown_device" && lines.last?.metadata["device"] == nil)
    }

    @Test("the log says if access is off, and who needs no key")
    func off() async throws {
        let log = LogRecorder()
        try await RunningRelay.run(log: log) { relay in _ = try await relay.post("/screencapture/start") }
        #expect(log.lines.contains { $0.level == .notice && $0.message.hasPrefix("access is off") })
        let line = try #require(log.lines.first { $0.message == "audit" })
        #expect(line.metadata["key"] == nil)
        #expect(line.metadata["role"] == "operator")
    }
}
