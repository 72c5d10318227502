import Access
import Foundation
import HeliographAPI
import Media
import NIOCore
import NIOHTTP1
import Relay
import RelayTestSupport
import Synchronization
import TestSupport
import Testing
import Wire

/// What a call answers is held against the contract wherever tests make one, by ``RunningRelay/call(_:_:key:headers:body:)``. Here every operation does what it is
/// there for, once with nothing to tell and once with all there is.
@Suite("Every operation answers as the contract has it", .serialized)
struct ContractAnswersTests {
    private static var left: DeviceConfiguration {
        var device = DeviceConfiguration(name: "left")
        device.source = SourceRequest(kind: .testPattern)
        device.agentExecutable = "/nonexistent/capture-agent"
        return device
    }

    private let keys: Keys
    private let scratch: Scratch

    init() throws { (keys, scratch) = (try Keys(), try Scratch()) }

    /// Calls operations, and knows which have succeeded.
    private final class Caller: Sendable {
        private let relay: RunningRelay
        private let key: APIKey?
        private let succeeded = Mutex<Set<String>>([])

        init(_ relay: RunningRelay, key: APIKey? = nil) { (self.relay, self.key) = (relay, key) }

        /// The operations that have not succeeded.
        var missing: Set<String> {
            Set(Contract.current.operations.map(\.name)).subtracting(succeeded.withLock { $0 })
        }

        func note(_ method: String, _ path: String) {
            guard let operation = Contract.current.operation(method, path) else { return }
            succeeded.withLock { _ = $0.insert(operation.name) }
        }

        @discardableResult
        func callAsFunction(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
            let answer = try await relay.call(method, path, key: key, body: body.map { Array($0.text.utf8) })
            #expect((200..<300).contains(answer.status), "\(method) \(path): \(answer.text)")
            note(method.rawValue, path)
            return answer.json
        }

        /// What changes nothing.
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

    /// Sends pictures and heartbeats, and answers what is asked of an agent, until it is cancelled.
    private static func serve(_ link: LinkClient, session: SessionID) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask {
                for number in 1... {
                    var unit = SampleStream.accessUnit(number, key: false)
                    unit.captured = NIODeadline.now().uptimeNanoseconds
                    try await link.send([unit], session: session)
                    try await link.send(.heartbeat(Heartbeat(session: session, clock: UInt64(number) * 100_000_000)))
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
            group.addTask {
                while let packet = try await link.next() {
                    guard case .stillRequest(_, let request) = packet else { continue }
                    let picture = Still.Picture(
                        format: request.format,
                        captured: 1,
                        orientation: 0,
                        size: PictureSize(width: 640, height: 360),
                        bytes: [1]
                    )
                    try await link.send(.still(session, Still(request: request.id, outcome: .picture(picture))))
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    @Test("of a relay with all there is")
    func everything() async throws {
        let key = try keys.make("ci", .operator)
        try await RunningRelay.run {
            $0.devices = [Self.left]
            $0.devices[0].fallback = .source(SourceRequest(kind: .testPattern))
            $0.keysFile = keys.file.path
            $0.stateDirectory = scratch.file("state").path
            $0.tls = .selfSigned
        } _: { relay in
            let call = Caller(relay, key: key)
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
            let agent = Task { try await Self.serve(link, session: id) }
            defer { agent.cancel() }
            // An answer with all that was sent.
            _ = try await eventually("rates and latencies") {
                let session = try await call(.GET, "/screencapture/\(id)")
                return session["rates"] != .null && session["latency"]?["link"] != .null ? true : nil
            }
            let broadcast = try await call(.GET, "/screencapture/broadcast")
            for member in ["agent", "encoders", "heartbeat", "standby", "tls"] {
                #expect(broadcast[member] != .null, "\(member)")
            }
            try await call.readAll(session: id)
            try await call(.GET, "/readyz")
            try await call(.POST, "/screencapture/broadcast/start")
            try await call(.PATCH, "/screencapture/\(id)", ["bitrate": 1_000_000, "width": nil])
            try await call(.POST, "/screencapture/\(id)/keyframe")
            try await call(.GET, "/screencapture/\(id)/wait?until=changed")
            for still in ["snapshot.jpg", "snapshot.png"] { try await call(.GET, "/screencapture/\(id)/\(still)") }
            let other = try await call(.POST, "/screencapture/start", ["codec": "hevc"])["id"]?.text ?? ""
            // Their heads: they go on until their session ends.
            for stream in [
                "\(id)/stream.h264", "\(other)/stream.h265", "\(id)/stream.ts", "\(id)/stream.mp4",
                "\(id)/stream.mjpeg",
            ] {
                try await call(.HEAD, "/screencapture/\(stream)")
            }
            try await call(.POST, "/auth/login", ["key": .string(key.text)])
            try await call(.POST, "/auth/logout")
            try await call(.POST, "/screencapture/\(other)/stop")
            try await call(.POST, "/screencapture/broadcast/stop")
            try await call(.POST, "/screencapture/stop")
            // The last, since it ends the relay.
            try await call(.POST, "/drain", ["timeout": 600])
            #expect(call.missing == ["GET /screencapture/{id}/ws"])
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

    @Test("which is an upgrade for a WebSocket")
    func webSocket() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let client = try await WebSocketClient(relay, session: session.id)
            let lines = client.answer.split(separator: "\r\n")
            let path = "/screencapture/\(session.id)/ws"
            let operation = try #require(Contract.current.operation("GET", path))
            let response = try #require(Contract.current.response(101, of: operation))
            #expect(lines.first?.hasPrefix("HTTP/1.1 101 ") == true)
            let names = lines.dropFirst().map { $0.prefix { $0 != ":" }.lowercased() }
            for header in response["headers"]?.members ?? [] { #expect(names.contains(header.name.lowercased())) }
            try await client.close()
        }
    }
}
