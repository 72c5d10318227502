import Access
import Foundation
import HeliographAPI
import Library
import LibraryAPI
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("A key of some devices", .serialized)
struct DeviceScopeTests {
    @Test("is refused by every route about another device, its sessions and recordings, and by none about its own")
    func everyRoute() async throws {
        try await TwoDevices.run { devices in
            var (refused, scoped): (Set<String>, Set<String>) = ([], [])
            for route in Routes.all.flatMap(\.addresses) where route.access != .anyone {
                let methods: [HTTPMethod] =
                    route.method == .get ? [.GET, .HEAD] : [HTTPMethod(rawValue: route.method.rawValue)]
                for method in methods {
                    let name = "\(method) \(route.path)"
                    let other = try await devices.tryOut(route, method, on: "right")
                    let own = try await devices.tryOut(route, method, on: "left")
                    if other.status == 403 {
                        refused.insert(name)
                        #expect(method == .HEAD || other.code == "forbidden_device", "\(name): \(other.text)")
                    } else {
                        scoped.insert(name)
                    }
                    #expect(own.status == 403 || own.code != "forbidden_device", "\(name)")
                    #expect((own.status == 403) == route.needsAllDevices, "\(name): \(own.text)")
                }
            }
            // What is about no certain device, and leaves out the others.
            #expect(
                scoped == [
                    "GET /v1/auth", "HEAD /v1/auth", "GET /auth", "HEAD /auth", "GET /v1/broadcasts",
                    "HEAD /v1/broadcasts", "GET /screencapture/broadcasts", "HEAD /screencapture/broadcasts",
                    "GET /screencapture", "HEAD /screencapture", "GET /v1/library/changes",
                    "HEAD /v1/library/changes", "GET /v1/library/db", "HEAD /v1/library/db", "GET /db", "HEAD /db",
                    "GET /v1/library/usage", "HEAD /v1/library/usage", "GET /v1/library/ws", "HEAD /v1/library/ws",
                    "GET /ws", "HEAD /ws", "GET /v1/library/clients", "HEAD /v1/library/clients",
                    "GET /v1/library/playlists", "HEAD /v1/library/playlists",
                    "GET /v1/library/playlists/{playlist}", "HEAD /v1/library/playlists/{playlist}",
                    "GET /v1/library/playlists/{playlist}/list.m3u8",
                    "HEAD /v1/library/playlists/{playlist}/list.m3u8", "GET /v1/speedtest", "HEAD /v1/speedtest",
                    "GET /v1/wall", "HEAD /v1/wall",
                ]
            )
            #expect(refused.count > 130, "\(refused.count)")
            #expect(
                refused.isSuperset(of: [
                    "POST /v1/sessions", "POST /screencapture/stop", "GET /v1/library", "GET /v1/events",
                    "GET /metrics", "POST /v1/drain", "POST /v1/library/{item}/restore",
                    "GET /v1/devices/{device}/sessions/{name}/ws", "GET /v1/devices/{device}/clipboard",
                ])
            )
        }
    }

    @Test("sees and stops only what is of its devices")
    func lists() async throws {
        try await TwoDevices.run { devices in
            func names(_ path: String, _ list: String, _ key: APIKey) async throws -> [JSONValue?] {
                let answer = try await devices.get(path, key).json
                guard case .array(let found)? = answer[list] else { throw NeverCame(description: "\(path)") }
                return found.map { $0["device"] }
            }
            for (path, list) in [
                ("/v1/broadcasts", "broadcasts"), ("/v1/sessions", "sessions"), ("/v1/sessions?brief=true", "sessions"),
                ("/screencapture", "sessions"), ("/v1/library?order=oldest", "items"),
            ] {
                #expect(try await names(path, list, devices.all) == ["left", "right"], "\(path)")
                #expect(try await names(path, list, devices.left) == ["left"], "\(path)")
            }
            let mark = try #require(try await devices.get("/v1/library/changes", devices.all).json["mark"]?.string)
            let since = "\(mark.split(separator: ".").first ?? "").0"
            let changes = try await devices.get("/v1/library/changes?since=\(since)", devices.left).json["changed"]
            #expect(try changes == .array([.integer(#require(devices.items["left"]))]))

            let who = try await devices.get("/v1/auth", devices.left).json
            #expect(who["devices"] == ["left"])
            #expect(try await devices.get("/v1/auth", devices.all).json["devices"] == .null)

            // Its only device is the default one.
            #expect(try await devices.get("/screencapture/broadcast", devices.left).json["device"] == "left")
            #expect(try await devices.get("/screencapture/broadcast", devices.all).code == "missing_field")
            let started = try await devices.post("/v1/sessions", devices.left)
            #expect(started.status == 201 && started.json["device"] == "left", "\(started.text)")

            let stopped = try await devices.post("/v1/sessions/stop", devices.left, ["all": true])
            #expect(stopped.json["stopped"] == 2)
            #expect(try await names("/v1/sessions", "sessions", devices.all) == ["right"])
        }
    }

    @Test("copies the catalogue of its devices only, and then what changes in it")
    func catalogue() async throws {
        let scratch = try Scratch()
        let (copy, file) = (scratch.file("catalogue.sqlite").path, scratch.file("new").path)
        try await TwoDevices.run { devices in
            let whole = try await devices.get("/db", devices.left)
            #expect(whole.headers["content-type"] == ["application/vnd.sqlite3"])
            #expect(!whole.text.contains("right"))
            try Data(whole.body).write(to: URL(fileURLWithPath: file))
            try CatalogueCopy.update(copy, with: file, since: nil)
            let mark = try CatalogueCopy(copy).mark()
            #expect(whole.headers["etag"] == ["\"\(mark)\""])
            let listed = try CatalogueCopy(copy).items(ItemQuery()).items
            #expect(listed.map { Int($0.id) } == [devices.items["left"]])
            let report = try await devices.get("/v1/library/\(listed[0].id)", devices.left).body
            #expect(try JSONDecoder().decode(LibraryItem.self, from: Data(report)) == LibraryItem(listed[0]))

            let tag = [("If-None-Match", "\"\(mark)\"")]
            let same = try await devices.relay.call(.GET, "/db?since=\(mark)", key: devices.left, headers: tag)
            #expect(same.status == 304 && same.body.isEmpty)
            let path = "/v1/library/\(listed[0].id)"
            let pinned = try await devices.relay.call(
                .PATCH,
                path,
                key: devices.left,
                body: Array(#"{"pinned": true}"#.utf8)
            )
            #expect(pinned.status == 200)
            let news = try await devices.relay.call(.GET, "/db?since=\(mark)", key: devices.left, headers: tag)
            #expect(news.status == 200 && !news.text.contains("right"))
            try Data(news.body).write(to: URL(fileURLWithPath: file))
            try CatalogueCopy.update(copy, with: file, since: mark)
            #expect(try CatalogueCopy(copy).items(ItemQuery()).items.map(\.isPinned) == [true])
            let old = try await devices.get("/db?since=\(mark)0", devices.all)
            try Data(old.body).write(to: URL(fileURLWithPath: file))
            try CatalogueCopy.update(copy, with: file, since: "\(mark)0")
            #expect(try CatalogueCopy(copy).items(ItemQuery()).items.count == 2)
        }
    }

    @Test("learns from no answer which other devices there are")
    func unknownDevices() async throws {
        try await TwoDevices.run { devices in
            let both = try devices.keys.make("both", .viewer, devices: ["left", "gone"])
            for (path, code) in [
                ("/v1/devices/gone/broadcast", "unknown_device"), ("/v1/devices/nowhere/broadcast", "forbidden_device"),
                ("/v1/devices/right/broadcast", "forbidden_device"), ("/v1/sessions/99", "unknown_session"),
                ("/v1/library/99", "unknown_item"), ("/screencapture/broadcast?device=gone", "unknown_device"),
            ] {
                let answer = try await devices.get(path, both)
                #expect(answer.code == code, "\(path): \(answer.text)")
                #expect(path.contains("right") || !answer.text.contains("right"), "\(answer.text)")
            }
            let several = try devices.keys.make("several", .viewer, devices: ["left", "right"])
            let missing = try await devices.get("/screencapture/broadcast", several)
            #expect(missing.code == "missing_field" && missing.text.contains("left, right"), "\(missing.text)")
            let none = try devices.keys.make("none", .viewer, devices: ["gone"])
            let nothing = try await devices.get("/screencapture/broadcast", none)
            #expect(nothing.code == "missing_field" && nothing.text.contains("Devices: none."), "\(nothing.text)")
        }
    }

    @Test("hears events of its devices only, until its devices change")
    func events() async throws {
        try await TwoDevices.run { devices in
            let kept = try await devices.get("/v1/events?follow=false", devices.left).text
            #expect(kept.contains(#""device":"left""#) && !kept.contains(#""device":"right""#), "\(kept)")
            #expect(!kept.contains("keys.changed"))
            let everything = try await devices.get("/v1/events?follow=false", devices.all).text
            #expect(everything.contains(#""device":"right""#))

            let client = try await ByteClient(port: devices.relay.ports.http)
            let head =
                "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(devices.left.text)\r\n\r\n"
            try await client.send(Array(head.utf8))
            let text = try String(contentsOfFile: devices.keys.file.path, encoding: .utf8)
            let file = URL(fileURLWithPath: devices.keys.file.path)
            _ = try await client.next()
            let copy = file.deletingLastPathComponent().appendingPathComponent("copy")
            try text.replacing("\"left\"\n", with: "\"right\"\n").write(to: copy, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy.path)
            #expect(rename(copy.path, file.path) == 0)
            _ = try await client.readToEnd()
            #expect(try await devices.get("/v1/auth", devices.left).json["devices"] == ["right"])
        }
    }

    @Test("watches its devices only, by WebSocket too")
    func webSockets() async throws {
        let log = LogRecorder()
        try await TwoDevices.run(log: log) { devices in
            let headers = ["Authorization": "Bearer \(devices.left.text)"]
            let other = try #require(devices.sessions["right"])
            for path in [
                "/v1/sessions/\(other)/ws", "/screencapture/\(other)/ws", "/v1/devices/right/sessions/shared/ws",
                "/v1/devices/right/ws",
            ] {
                let client = try await WebSocketClient(port: devices.relay.ports.http, path: path, headers: headers)
                #expect(client.answer.hasPrefix("HTTP/1.1 403 "), "\(path): \(client.answer)")
            }
            let own = try await WebSocketClient(
                devices.relay,
                session: try #require(devices.sessions["left"]),
                headers: headers
            )
            #expect(own.wasUpgraded)
            // No shared session was started.
            guard case .array(let sessions)? = try await devices.get("/v1/sessions", devices.all).json["sessions"]
            else {
                Issue.record("no list")
                return
            }
            #expect(sessions.count == 2)
            let metrics = try await devices.get("/metrics", devices.all).text
            #expect(metrics.contains("heliograph_calls_refused_total{code=\"forbidden_device\"} 4"))
            _ = try await devices.post("/v1/sessions/\(other)/stop", devices.left)
        }
        let refusal = try #require(log.lines.last { $0.message == "audit" && $0.metadata["key"] == "left" }?.metadata)
        #expect(refusal["code"] == "forbidden_device" && refusal["device"] == "right" && refusal["session"] == "2")
    }
}
