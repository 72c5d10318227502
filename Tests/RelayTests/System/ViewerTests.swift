import HeliographAPI
import Media
import NIOCore
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A viewer")
struct ViewerTests {
    /// Keyframe 0 and the pictures 1 to `last`.
    private static func group(last: Int) -> [AccessUnit] {
        (0...last).map { SampleStream.accessUnit($0, key: $0 == 0) }
    }

    @Test("on TCP gets the stream byte for byte, from parameter sets and keyframe on")
    func annexBOverTCP() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["repeat": false])
            let viewer = try await ByteClient(port: session.port)
            try await relay.waitForViewers(1, of: session.id)
            let link = try await LinkClient(greeting: relay)
            let units = Self.group(last: 20)
            // Viewers do not get a picture without a preceding keyframe.
            try await link.send([SampleStream.accessUnit(99, key: false)] + units, session: session.id)
            let expected = units.flatMap(\.bytes)
            #expect(try await viewer.read(expected.count) == expected)
            let status = try await relay.session(session.id)
            #expect(status["feed"] == "primary")
            #expect(status["width"] == 640)
            #expect(status["counters"]?["relay"]?["picturesOut"] == 21)
            #expect(status["counters"]?["relay"]?["discarded"] == 1)
        }
    }

    @Test("with scrcpy framing gets configuration, keyframe and pictures in packets")
    func scrcpyOverTCP() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["framing": "packet"])
            let viewer = try await ByteClient(port: session.port)
            try await relay.waitForViewers(1, of: session.id)
            let link = try await LinkClient(greeting: relay)
            let units = Self.group(last: 3)
            try await link.send(units, session: session.id)
            let expected = units.flatMap { unit in
                SampleStream.scrcpyPackets(unit, codec: .h264)
            }
            #expect(try await viewer.read(expected.count) == expected)
            #expect(expected.starts(with: [0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16]))
        }
    }

    @Test("that joins late begins at the cached keyframe, or asks for one and begins there")
    func joinsLate() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let first = try await ByteClient(port: session.port)
            let link = try await LinkClient(greeting: relay)
            let units = Self.group(last: 5)
            try await link.send(units, session: session.id)
            let cached = units.flatMap(\.bytes)
            _ = try await first.read(cached.count)

            let late = try await ByteClient(port: session.port)
            // Served from the cache or, on a slow machine where that is too old by now, from the next keyframe.
            try await relay.waitForViewers(2, of: session.id)
            async let request = link.first { if case .keyframeRequest(session.id, let id) = $0 { id } else { nil } }
            let later = try await waitingJoiner(relay, session)
            let id = try await request
            let answer = SampleStream.accessUnit(7, key: true, request: id)
            try await link.send([SampleStream.accessUnit(6, key: false), answer], session: session.id)
            #expect(try await later.read(answer.bytes.count) == answer.bytes)
            let seen = try await late.read(answer.bytes.count)
            #expect(seen.starts(with: SampleStream.parameterSets))
        }
    }

    /// Joins until the cache no longer serves a joining viewer.
    private func waitingJoiner(_ relay: RunningRelay, _ session: (id: SessionID, port: Int)) async throws -> ByteClient
    {
        try await eventually("a joiner that the cache cannot serve") {
            let before = try await relay.session(session.id)["counters"]?["relay"]?["picturesOut"]
            let viewers = try await relay.session(session.id)["viewers"]
            let joiner = try await ByteClient(port: session.port)
            guard case .integer(let count) = viewers else { return nil }
            try await relay.waitForViewers(count + 1, of: session.id)
            return try await relay.session(session.id)["counters"]?["relay"]?["picturesOut"] == before ? joiner : nil
        }
    }

    @Test("on HTTP gets the same stream, and its end when the session stops")
    func annexBOverHTTP() async throws {
        try await RunningRelay.run { relay in
            // HTTP is Annex B, whatever the port's framing.
            let session = try await relay.startSession(["framing": "scrcpy"])
            let link = try await LinkClient(greeting: relay)
            let units = Self.group(last: 10)
            async let answer = relay.get("/screencapture/\(session.id)/stream.h264")
            try await relay.waitForViewers(1, of: session.id)
            try await link.send(units, session: session.id)
            _ = try await eventually("the pictures to be handed out") {
                try await relay.session(session.id)["counters"]?["relay"]?["picturesOut"] == 11 ? true : nil
            }
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            #expect(try await answer.status == 200)
            #expect(try await answer.headers["content-type"] == ["video/h264"])
            #expect(try await answer.headers["cache-control"] == ["no-store"])
            #expect(try await answer.body == units.flatMap(\.bytes))
        }
    }

    @Test("of an H.265 session gets it on every path; the other codec's path says which one it is")
    func h265() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["codec": "hevc", "framing": "scrcpy"])
            let link = try await LinkClient(greeting: relay)
            let packets = try await ByteClient(port: session.port)
            async let answer = relay.get("/screencapture/\(session.id)/stream.h265")
            try await relay.waitForViewers(2, of: session.id)
            let units = (0...10).map { SampleStream.h265AccessUnit($0, key: $0 % 5 == 0) }
            try await link.send(units, session: session.id)
            let expected = units.flatMap { unit in
                SampleStream.scrcpyPackets(unit, codec: .h265)
            }
            #expect(try await packets.read(expected.count) == expected)
            let refusal = try await relay.get("/screencapture/\(session.id)/stream.h264")
            #expect(refusal.status == 404)
            #expect(refusal.code == "other_codec")
            #expect(refusal.json["path"] == "/screencapture/1/stream.h265")
            _ = try await eventually("the pictures to be handed out") {
                try await relay.session(session.id)["counters"]?["relay"]?["picturesOut"] == 22 ? true : nil
            }
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            #expect(try await answer.headers["content-type"] == ["video/h265"])
            #expect(try await answer.body == units.flatMap(\.bytes))
            let other = try await relay.startSession()
            #expect(
                try await relay.get("/screencapture/\(other.id)/stream.h265").json["path"]
                    == "/screencapture/2/stream.h264"
            )
        }
    }

    @Test("on HTTP has a connection that ends with the stream")
    func connectionEndsWithTheStream() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let browser = try await ByteClient(port: relay.ports.http)
            let request = "GET /screencapture/\(session.id)/stream.h264 HTTP/1.1\r\nHost: localhost\r\n\r\n"
            try await browser.send(Array(request.utf8))
            try await relay.waitForViewers(1, of: session.id)
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            let answer = String(decoding: try await browser.readToEnd(), as: UTF8.self)
            #expect(answer.lowercased().contains("\r\nconnection: close\r\n"))
            #expect(answer.hasSuffix("\r\n0\r\n\r\n"), "the stream's own end comes before the connection's")
        }
    }

    @Test("that leaves is noticed at once, though no picture flows")
    func leavingIsNoticed() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let viewer = try await ByteClient(port: session.port)
            let browser = try await ByteClient(port: relay.ports.http)
            let request = "GET /screencapture/\(session.id)/stream.h264 HTTP/1.1\r\nHost: localhost\r\n\r\n"
            try await browser.send(Array(request.utf8))
            try await relay.waitForViewers(2, of: session.id)
            try await browser.close()
            try await relay.waitForViewers(1, of: session.id)
            try await viewer.close()
            try await relay.waitForViewers(0, of: session.id)
        }
    }

    @Test("that is slow jumps to a later keyframe and disturbs no other")
    func aSlowViewerJumps() async throws {
        try await RunningRelay.run {
            $0.viewerQueueLimits = .init(bytes: 64 << 10, pictures: 1000)
        } _: { relay in
            let session = try await relay.startSession()
            let slow = try await ByteClient(port: session.port, autoRead: false)
            let quick = try await ByteClient(port: session.port)
            try await relay.waitForViewers(2, of: session.id)
            let link = try await LinkClient(greeting: relay)
            let units = (0..<400).map { SampleStream.accessUnit($0, key: $0 % 20 == 0, size: 16 << 10) }
            for unit in units {
                try await link.send([unit], session: session.id)
                #expect(try await quick.read(unit.bytes.count) == unit.bytes)
            }
            let counters = try await relay.session(session.id)["counters"]?["relay"]
            guard case .integer(let resyncs) = counters?["resyncs"], case .integer(let dropped) = counters?["dropped"]
            else {
                Issue.record("counters are expected")
                return
            }
            #expect(resyncs > 0)
            #expect(dropped > 0)
            try await slow.startReading()
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            let numbers = pictureNumbers(in: try await slow.readToEnd())
            #expect(numbers.count < 400)
            for (previous, next) in zip(numbers, numbers.dropFirst()) {
                #expect(next == previous + 1 || next % 20 == 0, "picture \(next) came after \(previous)")
            }
        }
    }

    /// Returns the numbers of the pictures in a stream whose last one may be incomplete.
    private func pictureNumbers(in stream: [UInt8]) -> [Int] {
        AnnexB.units(in: stream).compactMap { unit in
            guard [0x65, 0x41].contains(stream[unit.header]), unit.header + 3 < stream.count else { return nil }
            return stream[(unit.header + 1)...(unit.header + 3)].reduce(0) { $0 << 8 | Int($1 & 0x7F) }
        }
    }

    @Test("a connection over the limit is closed at once, with an error on HTTP")
    func tooManyViewers() async throws {
        try await RunningRelay.run {
            $0.devices[0].maximumViewers = 1
        } _: { relay in
            let session = try await relay.startSession()
            let first = try await ByteClient(port: session.port)
            try await relay.waitForViewers(1, of: session.id)
            let second = try await ByteClient(port: session.port)
            #expect(try await second.next() == nil)
            let answer = try await relay.get("/screencapture/\(session.id)/stream.h264")
            #expect(answer.status == 503)
            #expect(answer.code == "too_many_viewers")
            try await first.close()
        }
    }

    @Test("of a stopped session sees its end, and the port is free again")
    func stoppingEndsViewers() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let viewer = try await ByteClient(port: session.port)
            try await relay.waitForViewers(1, of: session.id)
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            #expect(try await viewer.next() == nil)
            #expect(try await relay.get("/screencapture/\(session.id)").code == "unknown_session")
            let next = try await relay.startSession(["port": .integer(session.port)])
            #expect(next.port == session.port)
            #expect(next.id == session.id + 1)
        }
    }

    @Test("sees a new agent's pictures from its first keyframe on")
    func aNewAgentGoesOn() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let viewer = try await ByteClient(port: session.port)
            try await relay.waitForViewers(1, of: session.id)
            let first = try await LinkClient(greeting: relay)
            try await first.send(Self.group(last: 1), session: session.id)
            let before = Self.group(last: 1).flatMap(\.bytes)
            #expect(try await viewer.read(before.count) == before)
            try await first.close()
            try await relay.waitForState("away")
            #expect(try await relay.session(session.id)["feed"] == "none")
            let second = try await LinkClient(greeting: relay)
            let key = SampleStream.accessUnit(5, key: true)
            try await second.send([SampleStream.accessUnit(4, key: false), key], session: session.id)
            #expect(try await viewer.read(key.bytes.count) == key.bytes)
        }
    }
}
