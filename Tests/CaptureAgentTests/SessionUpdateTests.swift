import CaptureAgent
import Media
import TestSupport
import Testing
import Wire

@Suite("A running session that is changed")
struct SessionUpdateTests {
    private static let size = PictureSize(width: 640, height: 360)

    private static func frame(_ number: UInt32, size: PictureSize = size) -> CapturedFrame {
        TestPatternSource.frame(number: number, size: size, captured: MonotonicClock.now)
    }

    private static func keyframes(_ units: some Sequence<AccessUnit>) -> Int {
        units.count { $0.flags.contains(.key) }
    }

    @Test("accepts another bitrate and another frame rate without a keyframe, in order")
    func rates() async throws {
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(fps: 20, output: recorder)
        pipeline.offer(Self.frame(1))
        try await recorder.wait("five pictures") { $0.count >= 5 }
        #expect(pipeline.update(SessionUpdate(bitrate: 500_000, fps: 100)) == nil)
        let count = recorder.units.count + 40
        try await recorder.wait("forty more") { $0.count >= count }
        pipeline.shutDown()
        // The waiting thread may be late, and more have come by then.
        let units = recorder.units.prefix(count)
        #expect(Self.keyframes(units) == 1)
        #expect(zip(units, units.dropFirst()).allSatisfy { $0.pts < $1.pts })
        // The last of them are a hundredth of a second apart.
        let last = units.suffix(20).map(\.pts)
        #expect(zip(last, last.dropFirst()).contains { $1 - $0 == 10_000 })
        #expect(pipeline.parameters.bitrate == 500_000)
        #expect(try FFmpeg.decodeLuma(h264: units.flatMap(\.bytes), size: Self.size).count == units.count)
    }

    @Test("says its new rate in its parameter sets with the next keyframe")
    func timing() async throws {
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(fps: 20, output: recorder)
        pipeline.offer(Self.frame(1))
        try await recorder.wait("a picture") { !$0.isEmpty }
        #expect(pipeline.update(SessionUpdate(fps: 50)) == nil)
        pipeline.requestKeyframe(1)
        try await recorder.wait("the keyframe") { $0.contains { $0.keyframeRequest == 1 } }
        pipeline.shutDown()
        let keyframe = try #require(recorder.units.last { $0.keyframeRequest == 1 })
        #expect(try FFmpeg.streamProperties(keyframe.bytes, codec: .h264)["r_frame_rate"] == "50/1")
    }

    @Test("makes a keyframe on its own if the encoder cannot change while it is open")
    func reopened() async throws {
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(codec: .h265, fps: 20, output: recorder)
        pipeline.offer(Self.frame(1))
        try await recorder.wait("a picture") { !$0.isEmpty }
        #expect(pipeline.update(SessionUpdate(fps: 50)) == nil)
        try await recorder.wait("a second keyframe") { Self.keyframes($0) == 2 }
        try await recorder.wait("a picture after it") { !($0.last?.flags.contains(.key) ?? true) }
        pipeline.shutDown()
        let units = recorder.units
        let place = try #require(units.lastIndex { $0.flags.contains(.key) })
        #expect(try FFmpeg.streamProperties(units[place].bytes, codec: .h265)["r_frame_rate"] == "50/1")
        #expect(zip(units, units.dropFirst()).allSatisfy { $0.pts < $1.pts })
        #expect(pipeline.figures.counters.encoderRestarts == 0)
        for part in [units[..<place], units[place...]] {
            let pictures = try FFmpeg.decodeLuma(part.flatMap(\.bytes), codec: .h265, size: Self.size)
            #expect(pictures.count == part.count)
        }
    }

    @Test("takes another size with a keyframe")
    func size() async throws {
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(output: recorder)
        pipeline.offer(Self.frame(1))
        try await recorder.wait("three pictures") { $0.count >= 3 }
        #expect(pipeline.update(SessionUpdate(size: RequestedSize(width: 320))) == nil)
        pipeline.offer(Self.frame(2))
        try await recorder.wait("the keyframe") { Self.keyframes($0) == 2 }
        pipeline.shutDown()
        let keyframe = try #require(recorder.units.last { $0.flags.contains(.key) })
        #expect(keyframe.size == PictureSize(width: 320, height: 180))
        let last = try #require(try FFmpeg.decodeLuma(h264: recorder.stream, size: keyframe.size).last)
        #expect(Pictures.counter(luma: last, size: keyframe.size) == 2)
    }

    @Test("stays as it is when the change is out of range")
    func outOfRange() throws {
        let pipeline = try SessionPipeline.started(output: SessionRecorder())
        let before = pipeline.parameters
        #expect(pipeline.update(SessionUpdate(bitrate: 1_000, fps: 0))?.contains("fps") == true)
        #expect(pipeline.parameters == before)
        pipeline.shutDown()
    }
}
