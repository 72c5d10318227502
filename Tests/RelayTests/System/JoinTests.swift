import HeliographAPI
import Media
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A viewer that joins")
struct JoinTests {
    private static func request(_ path: String, of relay: RunningRelay) async throws -> ByteClient {
        let client = try await ByteClient(port: relay.ports.http)
        try await client.send(Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        return client
    }

    @Test(
        "begins with the pictures since the last keyframe, or at the next one, as it or its session says",
        arguments: [("cache", nil, false), ("live", nil, true), ("cache", "live", true), ("live", "cache", false)]
            as [(String, String?, Bool)]
    )
    func joins(session way: String, query: String?, isLive: Bool) async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["join": .string(way)])
            let link = try await LinkClient(greeting: relay)
            let path = "/screencapture/\(session.id)/stream.h264" + (query.map { "?join=\($0)" } ?? "")
            // On a slow machine the keyframe becomes too old for a start; then the test repeats with a new one.
            let (units, viewer) = try await eventually("a viewer that came in time") {
                () -> ([AccessUnit], ByteClient)? in
                let first = try await Self.pictures(session.id, of: relay)
                let units = (first...first + 1).map { SampleStream.accessUnit($0, key: $0 == first) }
                let clock = ContinuousClock()
                let begin = clock.now
                try await link.send(units, session: session.id)
                _ = try await eventually("the pictures") {
                    try await Self.pictures(session.id, of: relay) == first + 2 ? true : nil
                }
                let viewer = try await Self.request(path, of: relay)
                try await relay.waitForViewers(1, of: session.id)
                if isLive || clock.now - begin < .milliseconds(400) { return (units, viewer) }
                try await viewer.close()
                try await relay.waitForViewers(0, of: session.id)
                return nil
            }
            let next = SampleStream.accessUnit(1000, key: true)
            // The first picture was a keyframe's, at most half a second ago. If it was earlier, the cache is too old
            // anyway.
            if isLive {
                let request = try await link.first {
                    if case .keyframeRequest(session.id, let id) = $0 { id } else { nil }
                }
                #expect(request == 2)
            }
            try await link.send([next], session: session.id)
            _ = try await eventually("the next picture") {
                try await Self.pictures(session.id, of: relay) > Int(units[1].pts / 33_333) + 1 ? true : nil
            }
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            let answer = try await viewer.readToEnd()
            #expect(Self.contains(answer, next.bytes))
            #expect(Self.contains(answer, units[0].bytes) == !isLive)
        }
    }

    /// Returns how many pictures the relay has received.
    private static func pictures(_ session: SessionID, of relay: RunningRelay) async throws -> Int {
        guard case .integer(let count) = try await relay.session(session)["counters"]?["relay"]?["pictures"] else {
            return 0
        }
        return count
    }

    private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        guard bytes.count >= part.count else { return false }
        return (0...(bytes.count - part.count)).contains { bytes[$0..<($0 + part.count)].elementsEqual(part) }
    }

    @Test("is told what it may ask for, on HTTP and on a WebSocket")
    func refuses() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            for path in ["stream.h264", "stream.ts", "stream.mp4", "ws"] {
                let answer = try await relay.get("/screencapture/\(session.id)/\(path)?join=now")
                #expect(answer.status == 400)
                #expect(answer.code == "unknown_value")
                #expect(answer.json["field"] == "join")
            }
            let socket = try await WebSocketClient(
                port: relay.ports.http,
                path: "/screencapture/\(session.id)/ws?join=now"
            )
            #expect(socket.answer.hasPrefix("HTTP/1.1 400 "))
            let live = try await WebSocketClient(
                port: relay.ports.http,
                path: "/screencapture/\(session.id)/ws?join=live"
            )
            #expect(live.wasUpgraded)
            #expect(try await relay.post("/screencapture/start", ["join": "now"]).code == "unknown_value")
        }
    }

    @Test("to a session on demand wakes the encoder, which sleeps again after the last viewer")
    func onDemand() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["onDemand": true])
            let link = try await LinkClient(greeting: relay)
            #expect(try await relay.session(session.id)["asleep"] == true)
            let refusal = try await relay.post("/screencapture/\(session.id)/keyframe")
            #expect(refusal.code == "no_source")
            for number in 0..<2 {
                let viewer = try await ByteClient(port: session.port)
                try await link.wait(for: session.id, isActive: true)
                let key = SampleStream.accessUnit(number, key: true)
                try await link.send([key], session: session.id)
                #expect(try await viewer.read(key.bytes.count) == key.bytes)
                #expect(try await relay.session(session.id)["asleep"] == false)
                try await viewer.close()
                try await link.wait(for: session.id, isActive: false)
            }
            let status = try await relay.session(session.id)
            #expect(status["asleep"] == true)
            #expect(status["stale"] == false)
            #expect(status["switches"] == 0)
        }
    }

    @Test("to a session follows what is changed while it runs: where viewers begin, and whether it sleeps")
    func changed() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let path = "/screencapture/\(session.id)"
            let link = try await LinkClient(greeting: relay)
            try await link.wait(for: session.id, isActive: true)
            let first = SampleStream.accessUnit(0, key: true)
            try await link.send([first], session: session.id)
            try await relay.waitForPicture(of: session.id)
            #expect(try await relay.patch(path, ["join": "live"]).json["join"] == "live")
            let live = try await ByteClient(port: session.port)
            try await relay.waitForViewers(1, of: session.id)
            let second = SampleStream.accessUnit(1, key: true)
            try await link.send([second], session: session.id)
            #expect(try await live.read(second.bytes.count) == second.bytes, "and not the first, which is kept")

            // It is watched first, and then no longer.
            #expect(try await relay.patch(path, ["onDemand": true]).json["asleep"] == false)
            try await live.close()
            try await link.wait(for: session.id, isActive: false)
            #expect(try await relay.session(session.id)["asleep"] == true)
            #expect(try await relay.patch(path, ["onDemand": false]).json["asleep"] == false)
            try await link.wait(for: session.id, isActive: true)

            let unwatched = try await relay.startSession()
            try await link.wait(for: unwatched.id, isActive: true)
            #expect(try await relay.patch("/screencapture/\(unwatched.id)", ["onDemand": true]).json["asleep"] == true)
            try await link.wait(for: unwatched.id, isActive: false)
        }
    }

    @Test("to any other session finds the encoder running, watched or not")
    func notOnDemand() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            try await link.wait(for: session.id, isActive: true)
            #expect(try await relay.session(session.id)["onDemand"] == false)
            #expect(try await relay.session(session.id)["asleep"] == false)
        }
    }
}
