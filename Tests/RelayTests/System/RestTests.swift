import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("Rest")
struct RestTests {
    /// An agent whose session rests, and a viewer that has seen the beginning.
    private struct Scene {
        let session: (id: SessionID, port: Int)
        let link: LinkClient
        let viewer: ByteClient
        var stream = StaticStream()
        var bytes: [UInt8] = []

        init(_ relay: RunningRelay, rests: Bool = true) async throws {
            session = try await relay.startSession(["keyframeInterval": 60, "staticKeyframeInterval": 60])
            viewer = try await ByteClient(port: session.port)
            try await relay.waitForViewers(1, of: session.id)
            link = try await LinkClient(greeting: relay)
            let units = try stream.beginning()
            try await link.send(units, session: session.id)
            try await read(units.reduce(0) { $0 + $1.bytes.count })
            if rests { try await rest(on: units[2].pts) }
        }

        func rest(on keyframe: Int64) async throws {
            let rest = Rest(
                keyframe: keyframe,
                slot: NIODeadline.now().uptimeNanoseconds,
                fps: 100,
                keyframeInterval: 60_000_000_000
            )
            try await link.send(.rest(session.id, rest))
        }

        mutating func read(_ count: Int) async throws {
            bytes += try await viewer.read(count)
        }

        func rested() async throws -> Rested {
            try await link.first { if case .rested(session.id, let rested) = $0 { rested } else { nil } }
        }
    }

    private static func pictures(_ bytes: [UInt8]) throws -> Int {
        try FFmpeg.decodeLuma(h264: bytes, size: StaticStream.size).count
    }

    @Test("a session that rests has its pictures from the relay, and goes on from them when its agent asks for it")
    func restAndWake() async throws {
        try await RunningRelay.run { relay in
            var scene = try await Scene(relay)
            // Skip pictures of this size have about ten bytes.
            try await scene.read(200)
            try await scene.link.send(.wake(scene.session.id))
            let rested = try await scene.rested()
            #expect(rested.keyframe == nil && rested.inserted >= 15 && rested.slots >= rested.inserted)
            let next = try scene.stream.picture(
                after: Int(rested.inserted),
                keyframeWasResent: false,
                pts: .max / 4
            )
            try await scene.link.send([next], session: scene.session.id)
            // The beginning, the repeats and the next picture, and nothing after it.
            _ = try await eventually("every picture") {
                let status = try await relay.session(scene.session.id)["counters"]?["relay"]
                return status?["picturesOut"] == .integer(3 + Int(rested.inserted) + 1) ? true : nil
            }
            _ = try await relay.post("/screencapture/\(scene.session.id)/stop")
            scene.bytes += try await scene.viewer.readToEnd()
            #expect(try Self.pictures(scene.bytes) == 3 + Int(rested.inserted) + 1)
        }
    }

    @Test("a session that is changed while it rests is handed back before its agent is told about the change")
    func change() async throws {
        try await RunningRelay.run { relay in
            var scene = try await Scene(relay)
            // It rests from here on: the relay makes these pictures.
            try await scene.read(200)
            _ = try await relay.patch("/screencapture/\(scene.session.id)", ["fps": 10])
            let order = try await scene.link.first { packet -> String? in
                switch packet {
                case .rested(scene.session.id, _): "rested"
                case .sessionUpdate(scene.session.id, let update) where update.fps == 10: "changed"
                default: nil
                }
            }
            #expect(order == "rested")
        }
    }

    @Test("a viewer that joins a resting session gets its keyframe without the agent")
    func join() async throws {
        try await RunningRelay.run { relay in
            var scene = try await Scene(relay)
            // Older than the cached keyframe that a joining viewer may start with.
            try await scene.read(700)
            let joiner = try await ByteClient(port: scene.session.port)
            let bytes = try await joiner.read(400)
            let first = try #require(AccessUnits.split(bytes, codec: .h264).first)
            #expect(AccessUnits.isIDR(first, codec: .h264))
            try await scene.link.send(.wake(scene.session.id))
            let rested = try await scene.rested()
            #expect(rested.keyframe != nil)
            _ = try await relay.post("/screencapture/\(scene.session.id)/stop")
            scene.bytes += try await scene.viewer.readToEnd()
            _ = try Self.pictures(scene.bytes)
        }
    }

    @Test("a session without viewers makes almost nothing and counts everything; a joining viewer gets an exact stream")
    func unwatched() async throws {
        try await RunningRelay.run { relay in
            var scene = try await Scene(relay)
            try await scene.read(100)
            try await scene.viewer.close()
            try await relay.waitForViewers(0, of: scene.session.id)
            let id = scene.session.id
            func counter(_ name: String) async throws -> Int {
                let counters = try await relay.session(id)["counters"]?["relay"]
                guard case .integer(let count) = counters?[name] else { throw NeverCame(description: "\(name)") }
                return count
            }
            // Pictures that were under way when the viewer left.
            try await Task.sleep(for: .milliseconds(200))
            let (bytesBefore, before) = (try await counter("bytes"), try await counter("pictures"))
            let delivered = try await counter("picturesOut")
            try await Task.sleep(for: .milliseconds(1500))
            let after = try await counter("pictures")
            #expect(try await counter("bytes") == bytesBefore)
            // At 100 pictures per second.
            #expect(after - before > 50)
            #expect(try await relay.session(id)["feed"] == "primary", "nothing is missed")

            let joiner = try await ByteClient(port: scene.session.port)
            var bytes = try await joiner.read(400)
            try await scene.link.send(.wake(scene.session.id))
            let rested = try await scene.rested()
            #expect(rested.keyframe != nil)
            #expect(Int(rested.slots) >= after - 3)
            let next = try scene.stream.picture(
                after: Int(rested.inserted),
                keyframeWasResent: true,
                pts: .max / 4
            )
            try await scene.link.send([next], session: scene.session.id)
            let made = 1 + Int(rested.inserted) + 1
            _ = try await eventually("every picture of the joiner") {
                try await counter("picturesOut") == delivered + made ? true : nil
            }
            _ = try await relay.post("/screencapture/\(id)/stop")
            bytes += try await joiner.readToEnd()
            let first = try #require(AccessUnits.split(bytes, codec: .h264).first)
            #expect(AccessUnits.isIDR(first, codec: .h264))
            #expect(try Self.pictures(bytes) == made)
        }
    }

    @Test("what the relay makes counts in the agent's figures")
    func counters() async throws {
        try await RunningRelay.run { relay in
            var scene = try await Scene(relay)
            try await scene.read(200)
            try await scene.link.send(.wake(scene.session.id))
            let rested = try await scene.rested()
            var counters = SessionCounters()
            counters.skipped = 5
            try await scene.link.send(.heartbeat(Heartbeat(session: scene.session.id, counters: counters)))
            let agent = try await eventually("the heartbeat's figures") {
                try await relay.session(scene.session.id)["counters"]?["agent"]?["skipped"]
            }
            #expect(agent == .integer(5 + Int(rested.inserted)))
        }
    }

    @Test("a WebSocket viewer that wants a keyframe gets the one that the relay holds, and wakes no agent")
    func webSocketKeyframe() async throws {
        try await RunningRelay.run { relay in
            var scene = try await Scene(relay)
            let viewer = try await WebSocketClient(relay, session: scene.session.id)
            try await relay.waitForViewers(2, of: scene.session.id)
            // The beginning's last keyframe, as a joining viewer gets it.
            try await scene.read(200)
            func keyframes() async throws -> JSONValue? {
                try await relay.session(scene.session.id)["counters"]?["relay"]?["keyframes"]
            }
            let before = try await keyframes()
            try await viewer.send(#"{"type":"keyframe"}"#)
            _ = try await eventually("another keyframe") { try await keyframes() != before ? true : nil }
            try await scene.link.send(.wake(scene.session.id))
            // Until the answer to that, the agent has received no request.
            while let packet = try await scene.link.next() {
                if case .keyframeRequest = packet { Issue.record("the agent was asked for a keyframe") }
                guard case .rested(_, let rested) = packet else { continue }
                #expect(rested.keyframe != nil)
                break
            }
        }
    }

    @Test(
        "rests that come faster than a screen can settle are given back at once, and end the link if they do not stop"
    )
    func excess() async throws {
        try await RunningRelay.run { relay in
            let scene = try await Scene(relay, rests: false)
            let keyframe = try StaticStream.restingKeyframe(pts: 0).pts
            for _ in 0..<60 { try await scene.rest(on: keyframe) }
            for _ in 0..<60 { _ = try await scene.rested() }
            #expect(try await relay.broadcast()["link"]?["connected"] == true)
            for _ in 0..<4000 { try? await scene.rest(on: keyframe) }
            try await scene.link.waitForEnd()
            _ = try await eventually("the link's end") { () -> Bool? in
                try await relay.broadcast()["link"]?["connected"] == false ? true : nil
            }
        }
    }

    @Test("a rest on anything but the last keyframe is given back at once, and another picture of the agent's ends it")
    func refusedAndEnded() async throws {
        try await RunningRelay.run { relay in
            let scene = try await Scene(relay, rests: false)
            try await scene.rest(on: 12345)
            #expect(try await scene.rested() == Rested())
            try await scene.rest(on: 2 * 33_333)
            var stream = scene.stream
            let next = try stream.picture(after: 0, keyframeWasResent: false, pts: 1 << 40)
            try await scene.link.send([next], session: scene.session.id)
            _ = try await scene.rested()
        }
    }

    @Test("a rest ends with the link of its agent, and the next agent's keyframe is asked for")
    func linkLost() async throws {
        try await RunningRelay.run { relay in
            var scene = try await Scene(relay)
            try await scene.read(100)
            try await scene.link.close()
            let next = try await LinkClient(greeting: relay)
            try await next.send(try StaticStream().startingOver(), session: scene.session.id)
            _ = try await relay.post("/screencapture/\(scene.session.id)/stop")
            scene.bytes += try await scene.viewer.readToEnd()
            _ = try Self.pictures(scene.bytes)
        }
    }
}

extension StaticStream {
    /// The beginning, from an agent without another one.
    fileprivate consuming func startingOver() throws -> [AccessUnit] {
        var stream = self
        return try stream.beginning()
    }
}
