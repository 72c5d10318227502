import Access
import Foundation
import HeliographAPI
import Media
import NIOCore
import NIOHTTP1
import Program
import Relay
import RelayTestSupport
import Synchronization
import TestSupport
import Testing
import Wire

/// Calls every operation with success, once with minimal and once with full answers.
///
/// ``RunningRelay/call(_:_:key:headers:body:)`` checks every answer in all tests against the contract.
@Suite("Every operation answers as the contract has it", .serialized)
struct ContractAnswersTests {
    private static var left: DeviceConfiguration {
        var device = DeviceConfiguration(name: "left")
        device.source = SourceRequest(kind: .testPattern)
        device.agentExecutable = "/nonexistent/capture-agent"
        device.applications = ["terminal": AllowedApplication(command: ["foot"])]
        return device
    }

    /// An agent's report of its sound.
    private static func sound(captures: Bool? = nil) -> DeviceTracks {
        let opus = MediaTrack(id: 1, coding: .opus(OpusParameters(channels: 2, preSkip: 0)!))
        var report = DeviceTracks([opus, MediaTrack(id: 2, coding: .aac(.stereo))], captures: captures)
        report.encodesAAC = true
        return report
    }

    private let keys: Keys
    private let scratch: Scratch

    init() throws { (keys, scratch) = (try Keys(), try Scratch()) }

    /// A caller of operations that records which ones have succeeded.
    private final class Caller: Sendable {
        private let relay: RunningRelay
        private let key: APIKey?
        private let usesAliases: Bool
        private let succeeded = Mutex<Set<String>>([])

        init(_ relay: RunningRelay, key: APIKey? = nil, usesAliases: Bool = true) {
            (self.relay, self.key, self.usesAliases) = (relay, key, usesAliases)
        }

        /// The routes that have not succeeded yet, neither at their address nor at their alias.
        var missing: Set<String> {
            let routes = Routes.all.map { usesAliases ? $0.aliased : $0 }
            return Set(routes.map { "\($0.method.rawValue) \($0.path)" }).subtracting(succeeded.withLock { $0 })
        }

        /// Returns the target to call: `target`, or the address that it is an alias of.
        private func address(_ method: HTTPMethod, _ target: String) -> String {
            let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
            let verb = method == .HEAD ? "GET" : method.rawValue
            let routes = Routes.all.filter { $0.method.rawValue == verb && $0.alias != nil && !usesAliases }
            let literal = routes.first { $0.alias == parts[0] }
            guard let route = literal ?? routes.first(where: { $0.aliased.value(of: "id", in: parts[0]) != nil }) else {
                return target
            }
            let path = route.path
                .replacing("{id}", with: route.aliased.value(of: "id", in: parts[0]) ?? "")
                .replacing("{device}", with: "left")
            let query = parts.dropFirst().first { $0 != "device=left" }
            return query.map { "\(path)?\($0)" } ?? path
        }

        func note(_ method: String, _ path: String) {
            guard let operation = Contract.current.operation(method, path) else { return }
            succeeded.withLock { _ = $0.insert(operation.name) }
        }

        @discardableResult
        func callAsFunction(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
            let path = address(method, path)
            let answer = try await relay.call(method, path, key: key, body: body.map { Array($0.text.utf8) })
            #expect((200..<300).contains(answer.status), "\(method) \(path): \(answer.text)")
            note(method.rawValue, path)
            return answer.json
        }

        func callAsFunction(_ method: HTTPMethod, template bytes: [UInt8], _ path: String) async throws {
            let answer = try await relay.call(method, path, key: key, body: bytes)
            #expect((200..<300).contains(answer.status), "\(method) \(path): \(answer.text)")
            note(method.rawValue, path)
        }

        func callAsFunction(_ method: HTTPMethod, text: String, _ path: String) async throws {
            let headers = [("Content-Type", "text/plain")]
            let answer = try await relay.call(method, path, key: key, headers: headers, body: Array(text.utf8))
            #expect((200..<300).contains(answer.status), "\(method) \(path): \(answer.text)")
            note(method.rawValue, path)
        }

        /// Records a session, and makes all calls about the recording.
        func useLibrary(session: SessionID) async throws {
            try await self(.POST, "/v1/sessions/\(session)/record/start")
            let item = try await eventually("a recorded picture") {
                let items = try await self(.GET, "/v1/library")["items"]
                guard case .array(let items) = items, let item = items.first, item["bytes"] != 0,
                    item["thumbnail"] == true
                else {
                    return nil as String?
                }
                return item["id"]?.text
            }
            try await self(.POST, "/v1/sessions/\(session)/record/stop")
            try await self(.POST, "/v1/devices/left/record/start")
            try await self(.POST, "/v1/devices/left/record/stop")
            try await self(.GET, "/v1/library/changes")
            try await self(.GET, "/db")
            try await self(.GET, "/v1/library/usage")
            try await self(.GET, "/v1/library/\(item)")
            try await self(.PATCH, "/v1/library/\(item)", ["pinned": true, "labels": ["build=42"]])
            try await self(.GET, "/v1/library/\(item)/file")
            try await self(.POST, "/v1/library/\(item)/links")
            try await self(.GET, "/v1/library/\(item)/clip")
            for companion in ["thumbnail.jpg", "storyboard.vtt", "storyboard/0"] {
                try await self(.GET, "/v1/library/\(item)/\(companion)")
            }
            for part in ["index.m3u8", "video/index.m3u8", "video/init.mp4", "video/0/0.m4s"] {
                try await self(.GET, "/v1/library/\(item)/hls/\(part)")
            }
            guard let number = Int(item) else { throw NeverCame(description: "a number") }
            try await self(.PUT, "/v1/library/playlists/evening", ["items": [.integer(number)]])
            for path in ["playlists", "playlists/evening", "playlists/evening/list.m3u8", "clients"] {
                try await self(.GET, "/v1/library/\(path)")
            }
            try await self(.DELETE, "/v1/library/playlists/evening")
            try await self(.DELETE, "/v1/library/\(item)")
            try await self(.POST, "/v1/library/\(item)/restore")
        }

        /// A change without any effect.
        func readAll(session: SessionID) async throws {
            for path in ["/auth", "/livez", "/metrics", "/screencapture/broadcasts", "/", "/openapi.json"] {
                try await self(.GET, path)
            }
            try await self(.GET, "/page/app.js")
            try await self(.GET, "/screencapture")
            try await self(.GET, "/screencapture/\(session)")
            try await self(.GET, "/screencapture/broadcast?device=left")
        }
    }

    /// Returns a JPEG that a storyboard can have.
    private static func picture() throws -> [UInt8] {
        let scratch = try Scratch()
        let file = scratch.file("picture.jpg")
        _ = try Tool.run(
            "/usr/bin/ffmpeg",
            ["-v", "error", "-f", "lavfi", "-i", "color=red:size=16x16", "-frames:v", "1", "-pix_fmt", "yuvj420p"]
                + ["-huffman", "default", file.path]
        )
        return try [UInt8](Data(contentsOf: file))
    }

    /// Sends pictures and heartbeats, and answers as an agent does, until it is cancelled.
    private static func serve(_ link: LinkClient, session: SessionID) async throws {
        let jpeg = try picture()
        try await withThrowingTaskGroup { group in
            group.addTask {
                // One that can be recorded.
                let keyframe = try SourceStream(SourceSettings(name: "x264", keyframes: [0], pictures: 1)).accessUnits[
                    0
                ]
                for number in 1... {
                    var unit = SampleStream.accessUnit(number, key: number % 10 == 0)
                    if unit.isKey { unit.bytes = keyframe }
                    unit.captured = NIODeadline.now().uptimeNanoseconds
                    try await link.send([unit], session: session)
                    try await link.send(.heartbeat(Heartbeat(session: session, clock: UInt64(number) * 100_000_000)))
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
            group.addTask {
                while let packet = try await link.next() {
                    if case .input(let id, let order) = packet {
                        try await link.send(.inputDone(id, InputReport(id: order.id, outcome: .done(began: 1, at: 1))))
                    }
                    if case .listen(let order) = packet {
                        try await link.send(.tracks(Self.sound(captures: order.mode == .send)))
                    }
                    if case .clipboard(let order) = packet {
                        var report = ClipboardReport(id: order.id, outcome: .done)
                        if case .get(let kind) = order.request { report.outcome = .content(ClipboardContent(kind, [])) }
                        try await link.send(.clipboardDone(report))
                    }
                    if case .application(let order) = packet {
                        let states = order.applications.map {
                            ApplicationState(
                                id: $0.id,
                                process: ProcessIdentity(pid: 4711, started: 1),
                                isRunning: order.kind != .terminate
                            )
                        }
                        try await link.send(
                            .applicationDone(ApplicationAnswer(order: order.order, applications: states))
                        )
                    }
                    guard case .snapshotRequest(_, let request) = packet else { continue }
                    let picture = Snapshot.Picture(
                        format: request.format,
                        captured: 1,
                        orientation: 0,
                        size: PictureSize(width: 640, height: 360),
                        bytes: jpeg
                    )
                    try await link.send(.snapshot(session, Snapshot(request: request.id, outcome: .picture(picture))))
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    @Test("of a relay with all there is, at every address", arguments: [false, true])
    func everything(usesAliases: Bool) async throws {
        let key = try keys.make("ci", .operator)
        try await RunningRelay.run {
            $0.devices = [Self.left]
            $0.devices[0].fallback = .source(SourceRequest(kind: .testPattern))
            $0.devices[0].sound = .virtual
            $0.devices[0].hasMicrophone = true
            $0.keysFile = keys.file.path
            $0.stateDirectory = scratch.file("state").path
            $0.library = scratch.file("library").path
            $0.tls = .selfSigned
        } _: { relay in
            let call = Caller(relay, key: key, usesAliases: usesAliases)
            let link = try await LinkClient(greeting: relay, device: "left")
            let standby = try await LinkClient(greeting: relay, device: "left", pid: 2, role: .standby)
            let started = try await call(
                .POST,
                "/screencapture/start",
                ["label": "wall", "ttl": 600, "maxPixels": 65536]
            )
            guard case .integer(let number) = started["id"] else { throw NeverCame(description: "a session") }
            let id = SessionID(number)
            try await link.send([SampleStream.accessUnit(0, key: true)], session: id)
            try await link.send(
                .encoders(EncoderReports(encoders: [EncoderReport(name: "x264", codec: .h264, available: true)]))
            )
            try await link.send(
                .inputs(InputCapabilities(backend: "wlroots", pointer: true, keyboard: true, clipboard: true))
            )
            try await link.send(.tracks(Self.sound()))
            let agent = Task { try await Self.serve(link, session: id) }
            defer { agent.cancel() }
            // An answer in which every field is present.
            _ = try await eventually("rates and latencies") {
                let session = try await call(.GET, "/screencapture/\(id)")
                return session["rates"] != .null && session["latency"]?["link"] != .null ? true : nil
            }
            try await call(.POST, "/v1/devices/left/actions", ["click": ["x": 1, "y": 1]])
            try await call(.PUT, text: "copied", "/v1/devices/left/clipboard")
            try await call(.GET, "/v1/devices/left/clipboard")
            let applications = "/v1/devices/left/applications"
            let application = try await call(.POST, applications, ["name": "terminal"])["id"]?.string ?? ""
            try await call(.GET, applications)
            try await call(.POST, "\(applications)/\(application)/focus")
            try await call(.DELETE, "\(applications)/\(application)")
            let broadcast = try await call(.GET, "/screencapture/broadcast")
            for member in [
                "agent", "audio", "microphone", "input", "controller", "encoders", "heartbeat", "standby", "tls",
            ] {
                #expect(broadcast[member] != .null, "\(member)")
            }
            try await call.readAll(session: id)
            try await call.useLibrary(session: id)
            try await call(.GET, "/readyz")
            try await call(.POST, "/screencapture/broadcast/start")
            try await call(.PATCH, "/screencapture/\(id)", ["bitrate": 1_000_000, "width": nil])
            try await call(.POST, "/screencapture/\(id)/keyframe")
            try await call(.GET, "/screencapture/\(id)/wait?until=changed")
            try await call(.GET, "/v1/sessions/\(id)/wait?until=changed")
            try await call(.GET, "/v1/sessions/\(id)/audio/level?for=0.1")
            for snapshot in ["snapshot.jpg", "snapshot.png"] {
                try await call(.GET, "/screencapture/\(id)/\(snapshot)")
            }
            try await call(.GET, "/v1/sessions/\(id)/live.m3u8")
            let live = try await relay.call(.GET, "/v1/sessions/\(id)/live.m3u8", key: key)
            try await call(.GET, "/v1/sessions/\(id)/\(try #require(CheckedPlaylist(live.text).segments.last).address)")
            let other = try await call(.POST, "/screencapture/start", ["codec": "hevc"])["id"]?.text ?? ""
            // Only their heads, because they last until their session ends.
            for stream in [
                "\(id)/stream.h264", "\(other)/stream.h265", "\(id)/stream.ts", "\(id)/stream.mp4",
                "\(id)/stream.mjpeg", "\(id)/stream.ogg", "\(id)/stream.aac",
            ] {
                try await call(.HEAD, "/screencapture/\(stream)")
            }
            try await call(.POST, "/auth/login", ["key": .string(key.text)])
            try await call(.POST, "/auth/logout")
            try await call(.POST, "/v1/keys", ["name": "ann", "role": "operator"])
            try await call(.GET, "/v1/keys")
            try await call(.DELETE, "/v1/keys/ann")
            try await call(.GET, "/v1/pairing")
            try await call(.DELETE, "/v1/pairing")
            try await call(.PUT, "/v1/tunnel", ["tunnel": "none"])
            try await call(.GET, "/v1/tunnel")
            try await call(.GET, "/v1/relays")
            // Only its head, because its bytes say nothing.
            try await call(.HEAD, "/v1/speedtest")
            try await call(.POST, "/v1/sessions/\(id)/links")
            try await call(.POST, "/v1/devices/left/links", ["ttl": 60])
            try await call(.POST, "/screencapture/\(other)/stop")
            try await call(.POST, "/screencapture/broadcast/stop")
            try await call(.PUT, "/v1/devices/left/sessions/door", ["fps": 10])
            try await call(.GET, "/v1/sessions?brief=true&device=left")
            try await call(.HEAD, "/v1/events")
            try await call(.DELETE, "/v1/devices/left/sessions/door")
            try await call(.PUT, template: PNG.make(width: 2, height: 2), "/v1/devices/left/templates/dialog")
            try await call(.GET, "/v1/devices/left/templates")
            try await call(.DELETE, "/v1/devices/left/templates/dialog")
            try await call(.DELETE, "/v1/devices/left/actions")
            try await call(.POST, "/v1/sessions/stop", ["all": true])
            try await call(.POST, "/screencapture/stop")
            // Last, because it ends the relay.
            try await call(.POST, "/drain", ["timeout": 600])
            let webSockets = [
                Routes.watchOverWebSocket.route, Routes.followLibrary.route, Routes.followWall.route,
            ]
            // Those need TLS, and a client with a certificate.
            let pairing = [Routes.armPairing.route, Routes.sharePairing.route, Routes.provePairing.route]
            let others = webSockets.map { "GET \(usesAliases ? $0.aliased.path : $0.path)" }
            #expect(call.missing == Set(others + pairing.map { "POST \($0.path)" }))
            withExtendedLifetime(standby) {}
        }
    }

    @Test("of a relay with nothing to tell")
    func nothing() async throws {
        try await RunningRelay.run {
            $0.devices = [Self.left]
        } _: { relay in
            let call = Caller(relay)
            let session = try await relay.startSession()
            try await call.readAll(session: session.id)
            try await call(.GET, "/readyz")
            try await call(.POST, "/screencapture/broadcast/stop")
            let exit = try await relay.post("/screencapture/broadcast/start")
            #expect(exit.code == "agent_not_started")
            #expect(try await call(.GET, "/screencapture/broadcast")["lastExit"] != .null)
        }
    }

    @Test("which is an upgrade for a WebSocket", arguments: Routes.watchOverWebSocket.route.addresses.map(\.path))
    func webSocket(address: String) async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            _ = try await relay.call(.PUT, "/v1/devices/default/sessions/shared")
            let path = address.replacing("{id}", with: "\(session.id)")
                .replacing("{device}", with: "default")
                .replacing("{name}", with: "shared")
            let client = try await WebSocketClient(port: relay.ports.http, path: path)
            let lines = client.answer.split(separator: "\r\n")
            let operation = try #require(Contract.current.operation("GET", path))
            let response = try #require(Contract.current.response(101, of: operation))
            #expect(lines.first?.hasPrefix("HTTP/1.1 101 ") == true)
            let names = lines.dropFirst().map { $0.prefix { $0 != ":" }.lowercased() }
            for header in response["headers"]?.members ?? [] { #expect(names.contains(header.name.lowercased())) }
            try await client.close()
        }
    }
}
