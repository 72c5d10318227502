import Access
import Foundation
import HeliographAPI
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A signed link", .serialized)
struct SignedLinkTests {
    /// Makes a link and returns its part of addresses: `/signed/LINK`.
    private static func link(
        _ path: String,
        _ key: APIKey,
        ttl: Int = 600,
        of devices: TwoDevices
    ) async throws -> String {
        let answer = try await devices.post("/v1/\(path)/links", key, ["ttl": .integer(ttl)])
        try #require(answer.status == 201, "\(answer.text)")
        let base = try #require(answer.json["base"]?.string)
        #expect(base.hasPrefix("/signed/") && base.hasSuffix("/v1/\(path)/"), "\(base)")
        return String(base.dropLast("/v1/\(path)/".count))
    }

    /// Begins to read the stream of a session, which must be admitted.
    private static func stream(_ session: String, _ devices: TwoDevices) async throws -> ByteClient {
        let client = try await ByteClient(port: devices.relay.ports.http)
        try await client.send(RawRequest("GET \(session)/stream.h264 HTTP/1.1").bytes)
        let head = try await client.read("HTTP/1.1 200".utf8.count)
        #expect(String(decoding: head, as: UTF8.self) == "HTTP/1.1 200")
        return client
    }

    @Test("opens exactly the calls that look at what it is for")
    func everyRoute() async throws {
        try await TwoDevices.run { devices in
            let paths = [
                "session": "sessions/\(try #require(devices.sessions["left"]))", "device": "devices/left",
                "recording": "library/\(try #require(devices.items["left"]))",
            ]
            let parameters: [String: Set<String>] = [
                "session": ["id"], "device": ["device", "id"], "recording": ["item"],
            ]
            for (kind, path) in paths {
                let link = try await Self.link(path, devices.all, of: devices)
                var opened = 0
                for route in Routes.all.flatMap(\.addresses) {
                    let method = HTTPMethod(rawValue: route.method.rawValue)
                    for device in ["left", "right"] {
                        let answer = try await devices.relay.call(
                            method,
                            link + devices.path(of: route, on: device) + "?nonsense=1"
                        )
                        let names = Set(route.parameters).intersection(["id", "device", "item"])
                        let isFor = device == "left" && !names.isDisjoint(with: parameters[kind] ?? [])
                        let looks = route.method == .get && [.viewer, .look].contains(route.access)
                        // The page's files, and what strangers may read.
                        let isPublic = route.method == .get && route.access == .anyone
                        let opens = isFor && looks
                        let name = "\(kind): \(method) \(route.path) of \(device): \(answer.text)"
                        if isPublic {
                            #expect(answer.status != 401 && answer.status != 403, "\(name)")
                        } else if opens {
                            opened += 1
                            #expect(answer.status != 401 && answer.status != 403, "\(name)")
                        } else {
                            #expect(answer.status == 403, "\(name)")
                        }
                    }
                }
                #expect(opened > 5, "\(kind): \(opened)")
            }
        }
    }

    @Test("opens the WebSocket of what it is for, which acts only if the link does and the key may")
    func webSocket() async throws {
        try await TwoDevices.run { devices in
            func upgrade(_ link: String, _ device: String) async throws -> WebSocketClient {
                let session = try #require(devices.sessions[device])
                return try await WebSocketClient(
                    port: devices.relay.ports.http,
                    path: "\(link)/v1/sessions/\(session)/ws",
                    headers: ["Origin": "https://elsewhere.example"]
                )
            }
            let link = try await Self.link("devices/left", devices.all, of: devices)
            #expect(try await !upgrade(link, "right").wasUpgraded)
            // A session's link is for its own address only, and starts nothing.
            let session = try #require(devices.sessions["left"])
            let narrow = try await Self.link("sessions/\(session)", devices.all, of: devices)
            let port = devices.relay.ports.http
            for device in ["left", "right"] {
                for path in ["/v1/devices/\(device)/ws", "/v1/devices/\(device)/sessions/shared/ws"] {
                    let socket = try await WebSocketClient(port: port, path: narrow + path, headers: [:])
                    #expect(socket.answer.hasPrefix("HTTP/1.1 403 "), "\(path): \(socket.answer)")
                }
                #expect(try await devices.get("/v1/devices/\(device)/sessions/shared", devices.all).status == 404)
            }
            let bad = try await upgrade(String(link.dropLast()) + "x", "left")
            #expect(bad.answer.hasPrefix("HTTP/1.1 401 "), "\(bad.answer)")
            let looking = try await upgrade(link, "left")
            #expect(looking.wasUpgraded)
            try await looking.send(WebSocketClient.Opcode.binary, [1, 1, 0, 0])
            let refused = try await looking.event("control")
            #expect(
                refused["may"] == false && refused["why"]?.text.contains("looking only") == true,
                "\(refused.text)"
            )

            let answer = try await devices.post("/v1/devices/left/links", devices.all, ["act": true])
            let page = try #require(answer.json["page"]?.string)
            #expect(page.hasSuffix("/?view=player#/devices/left/shared"), "\(page)")
            let acting = try await upgrade(try #require(page.split(separator: "/?").first.map(String.init)), "left")
            #expect(acting.wasUpgraded)
            let file = try await devices.relay.get(page.split(separator: "/?")[0] + "/page/app.js")
            #expect(file.status == 200)
            #expect(file.headers.first(name: "content-security-policy")?.contains("frame-ancestors *") == true)
            let item = try #require(devices.items["left"])
            #expect(
                try await devices.post("/v1/library/\(item)/links", devices.all, ["act": true]).code == "out_of_range"
            )
        }
    }

    @Test("looks at the live picture and at the recording, for pages of any origin and without their cookies")
    func looks() async throws {
        let log = LogRecorder()
        try await TwoDevices.run(log: log) { devices in
            let session = try #require(devices.sessions["left"])
            let item = try #require(devices.items["left"])
            let live = try await Self.link("sessions/\(session)", devices.left, of: devices)
            let recorded = try await Self.link("library/\(item)", devices.left, of: devices)
            let foreign = [("Origin", "https://example.com"), ("Sec-Fetch-Site", "cross-site")]
            for (path, type) in [
                ("\(live)/v1/sessions/\(session)", "application/json"),
                ("\(recorded)/v1/library/\(item)/hls/video/index.m3u8", "application/vnd.apple.mpegurl"),
                ("\(recorded)/v1/library/\(item)/hls/video/init.mp4", "video/mp4"),
            ] {
                let answer = try await devices.relay.call(.GET, path, headers: foreign)
                #expect(answer.status == 200, "\(path): \(answer.text)")
                #expect(answer.headers["Content-Type"] == [type])
                #expect(answer.headers["Access-Control-Allow-Origin"] == ["*"])
            }
            // The key of a caller counts nothing beside a link.
            let other = "\(live)/v1/sessions/\(try #require(devices.sessions["right"]))"
            #expect(try await devices.get(other, devices.all).code == "forbidden_link")
            for link in [live, recorded] {
                let secret = link.split(separator: ".").last.map(String.init) ?? ""
                #expect(secret.count == 64)
                #expect(!log.lines.contains { "\($0)".contains(secret) }, "a link is in the log")
            }
        }
    }

    @Test("is refused once it has ended or its key is revoked, and its streams are closed")
    func ends() async throws {
        try await TwoDevices.run { devices in
            let session = try #require(devices.sessions["left"])
            let path = "/v1/sessions/\(session)"
            let lasting = try await Self.link("sessions/\(session)", devices.left, of: devices)
            let short = try await Self.link("sessions/\(session)", devices.left, ttl: 2, of: devices)
            let brief = try await Self.stream(short + path, devices)
            let long = try await Self.stream(lasting + path, devices)
            _ = try await brief.readToEnd()
            #expect(try await devices.relay.call(.GET, short + path).code == "bad_link")
            #expect(try await devices.relay.call(.GET, lasting + path).status == 200)
            try devices.keys.revoke("left")
            _ = try await long.readToEnd()
            #expect(try await devices.relay.call(.GET, lasting + path).code == "bad_link")
            // Another key with the same name is a different key.
            _ = try devices.keys.make("left", .operator)
            #expect(try await devices.relay.call(.GET, lasting + path).code == "bad_link")
        }
    }

    @Test("cannot be changed")
    func forged() async throws {
        try await TwoDevices.run { devices in
            let session = try #require(devices.sessions["left"])
            let link = try await Self.link("sessions/\(session)", devices.left, of: devices)
            let text = link.dropFirst("/signed/".count)
            var parts = text.split(separator: ".").map(String.init)
            #expect(parts.count == 5)
            parts[1] = "\(try #require(devices.sessions["right"]))"
            let later = text.replacing(".\(text.split(separator: ".")[2]).", with: ".99999999999.")
            let forgeries = [
                "x", ".", "....", parts.joined(separator: "."), String(later), "\(text)00", "\(text).",
                String(text.dropLast(2)), String(repeating: "a", count: 2000),
            ]
            for forgery in forgeries {
                let answer = try await devices.relay.call(.GET, "/signed/\(forgery)/v1/sessions/\(session)")
                #expect(answer.code == "bad_link", "\(forgery): \(answer.text)")
            }
            for path in ["/signed/\(text)", "/signed/", "/signed", "\(link)?x"] {
                #expect(try await devices.relay.call(.GET, path).status == 404, "\(path)")
            }
        }
    }

    @Test("gives no more than its key has")
    func rights() async throws {
        try await TwoDevices.run { devices in
            let item = try #require(devices.items["left"])
            let watcher = try devices.keys.make("watcher", .viewer, library: [])
            #expect(try await devices.post("/v1/library/\(item)/links", watcher).code == "forbidden_library")
            #expect(try await devices.post("/v1/devices/right/links", devices.left).code == "forbidden_device")
            let link = try await Self.link("devices/left", devices.all, of: devices)
            #expect(try await devices.relay.call(.GET, "\(link)/v1/library/\(item)").status == 403)
            #expect(try await devices.relay.call(.POST, "\(link)/v1/devices/left/links").code == "forbidden_link")
            #expect(try await devices.relay.call(.GET, "\(link)/v1/devices/left/clipboard").code == "forbidden_link")
        }
    }

    @Test("is not needed without keys, and then opens nothing to other pages")
    func withoutKeys() async throws {
        try await RunningRelay.run { relay in
            #expect(try await relay.post("/screencapture/start").status == 201)
            #expect(try await relay.post("/v1/sessions/1/links").code == "no_keys")
            let foreign = [("Origin", "https://example.com"), ("Sec-Fetch-Site", "cross-site")]
            let answer = try await relay.call(.GET, "/signed/x/v1/sessions/1", headers: foreign)
            #expect(answer.code == "bad_link")
        }
    }

    @Test("lasts over a restart of the relay")
    func restart() async throws {
        let (keys, scratch) = (try Keys(), try Scratch())
        let key = try keys.make("ci", .operator)
        let folder = scratch.file("state").path
        let links = Links()
        for run in 0..<2 {
            try await RunningRelay.run {
                ($0.keysFile, $0.stateFile) = (keys.file.path, "\(folder)/relay.json")
            } _: { relay in
                if run == 0 {
                    let answer = try await relay.call(.POST, "/v1/devices/default/links", key: key)
                    await links.set(try #require(answer.json["base"]?.string))
                }
                let path = try #require(await links.base)
                #expect(try await relay.call(.GET, "\(path)sessions/none").code == "unknown_session")
            }
        }
    }

    private actor Links {
        var base: String?
        func set(_ base: String) { self.base = base }
    }
}
