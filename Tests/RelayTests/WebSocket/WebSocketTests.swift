import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A viewer on a WebSocket")
struct WebSocketTests {
    private typealias Opcode = WebSocketClient.Opcode

    /// Returns the PTS and bytes of a message that carries a picture.
    private static func picture(_ frame: WebSocketClient.Frame) -> (pts: Int, bytes: [UInt8])? {
        guard frame.opcode == Opcode.binary, frame.payload.first == 2 else { return nil }
        return (frame.payload[4..<12].reduce(0) { $0 << 8 | Int($1) }, Array(frame.payload.dropFirst(36)))
    }

    @Test("gets hello, feed, size, configuration and pictures, in this order and byte for byte")
    func stream() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["label": "desk"])
            let agent = try await LinkClient(greeting: relay)
            let viewer = try await WebSocketClient(relay, session: session.id)
            #expect(viewer.wasUpgraded)
            // RFC 6455's own example of a key and its answer.
            #expect(viewer.answer.lowercased().contains("s3pplmbitxaq9kygzzhzrbk+xoo="))
            try await relay.waitForViewers(1, of: session.id)
            let hello = try #require(try await viewer.next())
            #expect(hello.json["type"] == "hello")
            #expect(hello.json["label"] == "desk")
            #expect(hello.json["codec"] == "h264")
            #expect(try await viewer.event("feed")["feed"] == "none")
            let units = (0..<3).map { SampleStream.accessUnit($0, key: $0 == 0) }
            try await agent.send(units, session: session.id)
            #expect(try await viewer.event("feed")["feed"] == "primary")
            let size = try await viewer.event("size")
            #expect(size["width"] == 640 && size["height"] == 360 && size["orientation"] == 0)
            let configuration = try await viewer.first("a configuration") { $0.opcode == Opcode.binary ? $0 : nil }
            #expect(
                configuration.payload == Array(StreamConfiguration(units[0], codec: .h264)!.message.readableBytesView)
            )
            for unit in units {
                let picture = try await viewer.first("a picture", Self.picture)
                #expect(picture.pts == unit.pts)
                #expect(picture.bytes == unit.bytes)
            }
            try await viewer.close()
            try await relay.waitForViewers(0, of: session.id)
        }
    }

    @Test("is told a configuration again only when it changes")
    func configurationChanges() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let agent = try await LinkClient(greeting: relay)
            let viewer = try await WebSocketClient(relay, session: session.id)
            try await relay.waitForViewers(1, of: session.id)
            var units = (0..<3).map { SampleStream.accessUnit($0, key: true) }
            units[2].size = PictureSize(width: 320, height: 180)
            try await agent.send(units, session: session.id)
            var types: [UInt8] = []
            while types.count < 5 {
                let frame = try #require(try await viewer.next())
                if frame.opcode == Opcode.binary { types.append(frame.payload[0]) }
            }
            #expect(types == [1, 2, 2, 1, 2])
        }
    }

    @Test("asks for keyframes, tells what it presented, and reads the relay's clock")
    func messages() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let agent = try await LinkClient(greeting: relay)
            let viewer = try await WebSocketClient(relay, session: session.id)
            try await relay.waitForViewers(1, of: session.id)
            let units = (0...60).map { SampleStream.accessUnit($0, key: $0 == 0) }
            try await agent.send(units, session: session.id)
            _ = try await viewer.first("the last picture") { Self.picture($0)?.pts == 60 * 33_333 ? true : nil }
            try await viewer.send(#"{"type":"keyframe"}"#)
            _ = try await agent.first { if case .keyframeRequest = $0 { true } else { nil } }
            let before = NIODeadline.now().uptimeNanoseconds
            try await viewer.send(#"{"type":"clock","id":7}"#)
            let clock = try await viewer.event("clock")
            #expect(clock["id"] == 7)
            guard case .integer(let now) = clock["relay"] else {
                Issue.record("a clock is expected")
                return
            }
            #expect((before...NIODeadline.now().uptimeNanoseconds).contains(UInt64(now)))
            try await viewer.send(#"{"type":"ack","pts":999990}"#)
            try await viewer.send(#"{"type":"of a later release"}"#)
            let stats = try await viewer.first("statistics") { frame in
                frame.json["behindMs"].flatMap { $0 == .null ? .none : .some(frame.json) }
            }
            #expect(stats["behindMs"] == 1000)
            #expect(stats["viewers"] == 1)
            #expect(stats["pictures"] == 61)
            #expect(stats["dropped"] == 0)
        }
    }

    @Test("that is slow continues at a keyframe and is told how much it missed; another gets everything")
    func resync() async throws {
        try await RunningRelay.run {
            $0.viewerQueueLimits = ViewerQueue.Limits(bytes: 256 << 10, pictures: 600)
        } _: { relay in
            let session = try await relay.startSession()
            let agent = try await LinkClient(greeting: relay)
            let slow = try await WebSocketClient(port: relay.ports.http, path: "/screencapture/\(session.id)/ws")
            let fast = try await WebSocketClient(relay, session: session.id)
            try await relay.waitForViewers(2, of: session.id)
            try await slow.pause()
            let units = (0..<400).map { SampleStream.accessUnit($0, key: $0 % 20 == 0, size: 40_000) }
            for unit in units {
                try await agent.send([unit], session: session.id)
                let picture = try await fast.first("a picture", Self.picture)
                #expect(picture.pts == unit.pts)
            }
            try await slow.startReading()
            // Ends with a keyframe that nothing holds back.
            var (numbers, told, last): ([Int], Int, Int) = ([], 0, -1)
            try await agent.send([SampleStream.accessUnit(400, key: true)], session: session.id)
            while last != 400 {
                let frame = try #require(try await slow.next())
                if frame.json["type"] == "resync", case .integer(let dropped) = frame.json["dropped"] {
                    told += dropped
                    last = -1
                }
                guard let picture = Self.picture(frame) else { continue }
                let number = picture.pts / 33_333
                #expect(number == last + 1 || (last == -1 && number % 20 == 0), "picture \(number) came after \(last)")
                numbers.append(number)
                last = number
            }
            #expect(told > 0)
            #expect(numbers.count + told == 401)
            #expect(numbers == numbers.sorted())
        }
    }

    @Test("is told 1001 when its session ends, and the connection closes")
    func theEnd() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let viewer = try await WebSocketClient(relay, session: session.id)
            try await relay.waitForViewers(1, of: session.id)
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            #expect(try await viewer.closeCode() == 1001)
        }
    }

    @Test("does not delay the relay's end, and is told about it")
    func shutdown() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let viewer = try await WebSocketClient(relay, session: session.id)
            // A connection that has sent nothing yet does not delay it, either.
            let idle = try await ByteClient(port: relay.ports.http)
            try await relay.waitForViewers(1, of: session.id)
            await relay.shutDown()
            #expect(try await viewer.closeCode() == 1001)
            #expect(try await idle.next() == nil)
        }
    }
}
