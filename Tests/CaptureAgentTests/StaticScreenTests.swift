import CaptureAgent
import Media
import TestSupport
import Testing
import Wire

@Suite("A screen that is static")
struct StaticScreenTests {
    private static let size = PictureSize(width: 640, height: 360)
    /// The interval of 60 pictures per second, in ns.
    private static let interval: UInt64 = 1_000_000_000 / 60

    private static func frame(_ number: UInt32) -> CapturedFrame {
        TestPatternSource.frame(number: number, size: size, captured: MonotonicClock.now)
    }

    private func wait(_ recorder: SessionRecorder, skips count: Int) async throws {
        let before = recorder.units.count { $0.flags.contains(.skip) }
        try await recorder.wait("\(count) more repeats without the encoder") { units in
            units.count { $0.flags.contains(.skip) } >= before + count
        }
    }

    @Test(
        "is repeated without the encoder once it has settled, keyframes and what moves next included",
        arguments: Codec.allCases
    )
    func settled(codec: Codec) async throws {
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(codec: codec, output: recorder)
        pipeline.offer(Self.frame(5))
        try await wait(recorder, skips: 20)
        for request in [7, 8, 9] as [UInt32] {
            pipeline.requestKeyframe(request)
            try await recorder.wait("keyframe \(request)") { $0.contains { $0.keyframeRequest == request } }
            try await wait(recorder, skips: 20)
        }
        let unchanged = recorder.units.count
        let encoded = pipeline.figures.counters.encoded
        try await wait(recorder, skips: 30)
        #expect(pipeline.figures.counters.encoded == encoded)
        pipeline.offer(Self.frame(6))
        try await recorder.wait("the next live picture") { $0.last { !$0.flags.contains(.repeat) } != $0.first }
        try await wait(recorder, skips: 20)
        pipeline.shutDown()

        let units = recorder.units
        let keys = units.filter { $0.flags.contains(.key) }
        #expect(keys.map(\.keyframeRequest) == [0, 7, 8, 9])
        // The first keyframe on request is encoded, and good enough to be sent again.
        #expect(keys.map { $0.flags.contains(.skip) } == [false, false, true, true])
        #expect(keys[1].bytes == keys[2].bytes && keys[2].bytes == keys[3].bytes)
        #expect(
            units.filter { $0.flags.contains(.skip) && !$0.flags.contains(.key) }.allSatisfy { $0.bytes.count < 60 }
        )
        let counters = pipeline.figures.counters
        #expect(counters.encodedLive == 2 && counters.pictures == UInt64(units.count))
        #expect(pipeline.figures.repeatRefusal == nil)

        let pictures = try FFmpeg.decodeLuma(units.flatMap(\.bytes), codec: codec, size: Self.size)
        #expect(pictures.count == units.count)
        let values = pictures.map { Pictures.counter(luma: $0, size: Self.size) }
        #expect(values.first == 5 && values.last == 6)
        #expect(values[..<unchanged].allSatisfy { $0 == 5 })
        // No keyframe makes the picture pulse.
        let sent = Pictures.patternLuma(value: 5, size: Self.size)
        let quality = pictures[..<unchanged].map { Pictures.psnr($0, sent) }
        let settled = try #require(units.firstIndex { $0.flags.contains(.skip) })
        #expect(quality[settled...].allSatisfy { $0 > quality[settled] - 1 }, "\(settled) \(quality)")
        for (place, unit) in units.enumerated().dropFirst()
        where unit.flags.contains(.skip) && !unit.flags.contains(.key) {
            #expect(pictures[place] == pictures[place - 1])
        }
    }

    @Test("under a tight cap is refined until it is sharp, and its keyframe is as good, within a decibel")
    func tightCap() async throws {
        let (units, quality) = try await keyframesUnderTightCap(codec: .h264)
        let settled = try #require(units.firstIndex { $0.flags.contains(.skip) })
        let key = try #require(units.firstIndex { $0.keyframeRequest == 7 })
        #expect(quality[settled] > quality[0] + 3)
        #expect(!units[key].flags.contains(.skip))
        #expect(units[(key + 1)...].allSatisfy { $0.flags.contains(.skip) })
        #expect(quality[settled...].allSatisfy { $0 > quality[settled] - 1 }, "\(quality)")
        #expect(units[key].bytes == units.first { $0.keyframeRequest == 8 }?.bytes)
    }

    @Test("is refined again after a keyframe that the cap has made worse, where the encoder knows no way past the cap")
    func pulsingKeyframe() async throws {
        let (units, quality) = try await keyframesUnderTightCap(codec: .h265)
        let key = try #require(units.firstIndex { $0.keyframeRequest == 7 })
        #expect(!units[key].flags.contains(.skip) && !units[key + 1].flags.contains(.skip))
        #expect(try #require(quality.last) > quality[key] + 3, "\(quality)")
    }

    /// Returns the access units of a settled picture that is twice asked for a keyframe, and their luma PSNR.
    private func keyframesUnderTightCap(codec: Codec) async throws -> (units: [AccessUnit], quality: [Double]) {
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(codec: codec, bitrate: 400_000, output: recorder)
        pipeline.offer(Self.frame(5))
        try await wait(recorder, skips: 10)
        for request in [7, 8] as [UInt32] {
            pipeline.requestKeyframe(request)
            try await recorder.wait("keyframe \(request)") { $0.contains { $0.keyframeRequest == request } }
            try await wait(recorder, skips: 10)
        }
        pipeline.shutDown()
        let sent = Pictures.patternLuma(value: 5, size: Self.size)
        let pictures = try FFmpeg.decodeLuma(recorder.units.flatMap(\.bytes), codec: codec, size: Self.size)
        return (recorder.units, pictures.map { Pictures.psnr($0, sent) })
    }

    @Test("the cap holds again after the keyframe that it let pass")
    func capAfterKeyframe() async throws {
        let bitrate = 1_000_000
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(bitrate: bitrate, output: recorder)
        pipeline.offer(Self.frame(5))
        try await wait(recorder, skips: 10)
        pipeline.requestKeyframe(7)
        try await recorder.wait("the keyframe") { $0.contains { $0.keyframeRequest == 7 } }
        try await wait(recorder, skips: 3)
        let unchanged = recorder.units.count
        for number in 1...20 as ClosedRange<UInt32> {
            let before = recorder.units.count { !$0.flags.contains(.repeat) }
            pipeline.offer(Self.frame(number * 1_000))
            try await recorder.wait("a live picture") { $0.count { !$0.flags.contains(.repeat) } > before }
        }
        pipeline.shutDown()
        let units = recorder.units[unchanged...]
        // Half a second's worth may come at once, the rest at the session's rate. The first picture may fill the buffer
        // uncounted.
        let time = try #require(units.last).pts - (try #require(units.first)).pts
        let most = 2 * bitrate / 16 + Int(time) * bitrate / 8_000_000
        #expect(units.reduce(0) { $0 + $1.bytes.count } <= most)
    }

    @Test("settles though keyframes are due more often than it takes to refine it")
    func frequentKeyframes() async throws {
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(fps: 30, keyframeInterval: 100, output: recorder)
        pipeline.offer(Self.frame(5))
        try await wait(recorder, skips: 10)
        pipeline.shutDown()
    }

    @Test(
        "rests once it has settled and has its keyframe, and goes on from what was made meanwhile",
        arguments: Codec.allCases
    )
    func rests(codec: Codec) async throws {
        let recorder = SessionRecorder(takesRest: true)
        let pipeline = try SessionPipeline.started(codec: codec, keyframeInterval: 1000, output: recorder)
        pipeline.offer(Self.frame(5))
        let rest = try await eventually("a rest") { recorder.rests.last }
        let count = recorder.units.count
        #expect(recorder.units.last?.flags.contains(.key) == true)
        #expect(recorder.units.last?.pts == rest.keyframe)
        #expect(rest.fps == 60 && rest.keyframeInterval == 10_000_000_000)
        let counters = pipeline.figures.counters
        #expect(recorder.wakes == 0)
        // The relay repeats it three times, sends the keyframe again, and repeats it twice.
        var bytes = recorder.stream
        var other = try RepeatableStream(codec: codec, resumingAt: try #require(recorder.units.last).bytes)
        for _ in 0..<3 { bytes += other.skip() ?? [] }
        bytes += other.resendKeyframe() ?? []
        for _ in 0..<2 { bytes += other.skip() ?? [] }
        #expect(recorder.units.count == count, "nothing is made while it rests")

        pipeline.offer(Self.frame(6))
        pipeline.offer(Self.frame(7))
        #expect(recorder.wakes == 1, "it is asked for once")
        #expect(recorder.units.count == count, "and nothing is made before it is back")
        let slots = try await eventually("eight slots") {
            let slots = (max(MonotonicClock.now, rest.slot) - rest.slot) / Self.interval
            return slots >= 8 ? slots : nil
        }
        let keyframe = rest.slot + (slots - 3) * Self.interval
        pipeline.rested(Rested(slots: UInt32(slots), inserted: 2, keyframe: keyframe))
        try await recorder.wait("the next live picture") { $0.count > count }
        pipeline.shutDown()
        let next = recorder.units[count]
        #expect(next.pts > rest.keyframe + Int64(slots * Self.interval / 1000))
        #expect(!next.flags.contains(.key) && !next.flags.contains(.repeat))
        #expect(pipeline.figures.counters.encodedLive == counters.encodedLive + 1)
        let pictures = try FFmpeg.decodeLuma(bytes + next.bytes, codec: codec, size: Self.size)
        #expect(pictures.count == count + 7)
        #expect(Pictures.counter(luma: try #require(pictures.last), size: Self.size) == 7)
    }

    @Test("a keyframe that is asked for, and a change of the session, wake it")
    func wakes() async throws {
        let recorder = SessionRecorder(takesRest: true)
        let pipeline = try SessionPipeline.started(keyframeInterval: 200, output: recorder)
        pipeline.offer(Self.frame(5))
        _ = try await eventually("a rest") { recorder.rests.last }
        pipeline.requestKeyframe(7)
        #expect(recorder.wakes == 1)
        pipeline.rested(Rested(slots: 60, inserted: 60))
        let second = try await eventually("the next rest") { recorder.rests.count == 2 ? recorder.rests.last : nil }
        #expect(recorder.units.last?.keyframeRequest == 7 && recorder.units.last?.pts == second.keyframe)
        let problem = pipeline.update(SessionUpdate(fps: 30))
        #expect(problem == nil && recorder.wakes == 2)
        pipeline.rested(Rested())
        let third = try await eventually("a rest at the new rate") {
            recorder.rests.count == 3 ? recorder.rests.last : nil
        }
        #expect(third.fps == 30)
        // A resting session may end.
        pipeline.shutDown()
    }

    @Test("a change of its rate counts from the rest on, whose slots are those of the former rate")
    func rateChangesWhileItRests() async throws {
        let recorder = SessionRecorder(takesRest: true)
        let pipeline = try SessionPipeline.started(keyframeInterval: 200, output: recorder)
        pipeline.offer(Self.frame(5))
        let rest = try await eventually("a rest") { recorder.rests.last }
        let count = recorder.units.count
        let slots = try await eventually("sixty slots") {
            let slots = (max(MonotonicClock.now, rest.slot) - rest.slot) / Self.interval
            return slots >= 60 ? slots : nil
        }
        let problem = pipeline.update(SessionUpdate(fps: 1))
        #expect(problem == nil && recorder.wakes == 1)
        pipeline.rested(Rested(slots: UInt32(slots), inserted: UInt32(slots)))
        let last = rest.keyframe + Int64(slots * Self.interval / 1000)
        try await recorder.wait("a picture at the new rate") { $0.count > count }
        let next = recorder.units[count].pts
        #expect(next > last && next < last + 10_000_000)
        pipeline.shutDown()
    }

    @Test("continues after an impossible report about its rest")
    func impossibleRest() async throws {
        let recorder = SessionRecorder(takesRest: true)
        let pipeline = try SessionPipeline.started(keyframeInterval: 200, output: recorder)
        pipeline.offer(Self.frame(5))
        for count in 1...3 {
            _ = try await eventually("a rest") { recorder.rests.count == count ? true : nil }
            pipeline.requestKeyframe(UInt32(count))
            pipeline.rested(Rested(slots: .max, inserted: 1, keyframe: .max))
        }
        try await recorder.wait("the last keyframe") { $0.contains { $0.keyframeRequest == 3 } }
        pipeline.shutDown()
    }

    @Test("two keyframes that are alike never follow each other directly, however slow the session")
    func slowKeyframes() async throws {
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(fps: 2, output: recorder)
        pipeline.offer(Self.frame(5))
        try await wait(recorder, skips: 1)
        for request in [7, 8] as [UInt32] {
            pipeline.requestKeyframe(request)
            try await recorder.wait("keyframe \(request)") { $0.contains { $0.keyframeRequest == request } }
        }
        pipeline.shutDown()
        let keys = recorder.units.enumerated().filter { $0.element.flags.contains(.key) }.map(\.offset)
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $1 - $0 > 1 }, "\(keys)")
    }

    @Test("is repeated by the encoder where its stream takes no other pictures, and the figures say why")
    func refused() async throws {
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(
            encoder: "counting",
            catalogue: EncoderCatalogue(entries: [CountingEncoder.entry, .x264, .x265]),
            output: recorder
        )
        pipeline.offer(Self.frame(5))
        try await recorder.wait("sixty pictures") { $0.count >= 60 }
        pipeline.shutDown()
        #expect(recorder.units.allSatisfy { !$0.flags.contains(.skip) })
        #expect(pipeline.figures.repeatRefusal != nil)
        #expect(pipeline.figures.counters.reencodedRepeats > 0)
    }
}

/// x264 with a message before every picture that counts pictures (recovery point, H.264 D.1.8). Inserted pictures would
/// make it wrong.
private final class CountingEncoder: VideoEncoder {
    static let entry = EncoderEntry(name: "counting", codec: .h264, kind: .software) { settings throws(EncoderError) in
        CountingEncoder(try X264Encoder(settings))
    }

    let name = "counting"
    private let encoder: X264Encoder

    init(_ encoder: X264Encoder) {
        self.encoder = encoder
    }

    var settings: EncoderSettings { encoder.settings }

    func encode(_ picture: PlanarPicture, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture {
        var encoded = try encoder.encode(picture, forceKeyframe: forceKeyframe)
        if !encoded.isKeyframe { encoded.bytes = [0, 0, 0, 1, 6, 6, 1, 0xC4, 0x80] + encoded.bytes }
        return encoded
    }

    func reconfigure(bitrate: Int, burst: Int, fps: Int) -> Bool {
        encoder.reconfigure(bitrate: bitrate, burst: burst, fps: fps)
    }
}
