import CaptureAgent
import Media
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("A session's pipeline, with the real encoder")
struct SessionPipelineTests {
    private static let size = PictureSize(width: 640, height: 360)

    private static func frame(_ number: UInt32, size: PictureSize = size) -> CapturedFrame {
        TestPatternSource.frame(number: number, size: size, captured: MonotonicClock.now)
    }

    @Test("one frame of a static screen becomes a stream of pictures that decode to it")
    func staticScreen() async throws {
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(output: recorder)
        let frame = Self.frame(4711)
        pipeline.offer(frame)
        try await recorder.wait("twenty pictures") { $0.count >= 20 }
        pipeline.shutDown()

        let units = recorder.units
        #expect(units[0].flags == .key)
        #expect(units.dropFirst().allSatisfy { $0.flags.contains(.repeat) && !$0.flags.contains(.key) })
        #expect(zip(units, units.dropFirst()).allSatisfy { $0.pts < $1.pts })
        let pictures = try FFmpeg.decodeLuma(h264: recorder.stream, size: Self.size)
        #expect(pictures.count == units.count)
        #expect(pictures.allSatisfy { Pictures.counter(luma: $0, size: Self.size) == 4711 })
        let figures = pipeline.figures
        #expect(figures.encoder == "x264" && figures.size == Self.size)
        #expect(figures.counters.encodedLive == 1 && figures.counters.pictures == UInt64(units.count))
    }

    @Test("a picture that waits for other sessions' turns is said to, and is of the newest frame when its own comes")
    func turn() async throws {
        let (recorder, place) = (SessionRecorder(), EncodingTurns.Place())
        let turns = EncodingTurns(limit: 1, longestTurn: .milliseconds(600_000))
        turns.begin(place)
        let pipeline = try SessionPipeline.started(output: recorder, turns: turns)
        pipeline.offer(Self.frame(1))
        _ = try await eventually("the wait for a turn") { pipeline.figures.awaitsTurn }
        let newest = Self.frame(2)
        pipeline.offer(newest)
        turns.end(place)
        try await recorder.wait("a picture") { !$0.isEmpty }
        pipeline.shutDown()
        #expect(recorder.units.first?.captured == newest.captured)
        #expect(pipeline.figures.counters.encodedLive == 1)
        #expect(pipeline.figures.awaitsTurn == nil)
    }

    @Test("a session has the encoder that it asks for", arguments: [("x264", Codec.h264), ("libx265", .h265)])
    func namedEncoder(name: String, codec: Codec) async throws {
        let recorder = SessionRecorder()
        let catalogue = EncoderCatalogue(entries: [.x264, .x265], resolve: EncoderEntry.libav(named:))
        let pipeline = try SessionPipeline.started(codec: codec, encoder: name, catalogue: catalogue, output: recorder)
        pipeline.offer(Self.frame(7))
        try await recorder.wait("five pictures") { $0.count >= 5 }
        pipeline.shutDown()
        #expect(pipeline.figures.encoder == name)
        let pictures = try FFmpeg.decodeLuma(recorder.stream, codec: codec, size: Self.size)
        #expect(pictures.allSatisfy { Pictures.counter(luma: $0, size: Self.size) == 7 })
        #expect(pictures.count == recorder.units.count)
    }

    @Test("a source that changes its size goes on with a keyframe, in the session's own size if it has one")
    func sizeChange() async throws {
        for requested in [RequestedSize(), RequestedSize(width: 320, height: 240)] {
            let recorder = SessionRecorder()
            let pipeline = try SessionPipeline.started(size: requested, output: recorder)
            pipeline.offer(Self.frame(1))
            try await recorder.wait("the first size") { $0.count >= 3 }
            let other = PictureSize(width: 853, height: 481)
            pipeline.offer(Self.frame(2, size: other))
            try await recorder.wait("a second keyframe") { units in units.count { $0.flags.contains(.key) } == 2 }
            pipeline.shutDown()

            let second = try #require(recorder.units.last { $0.flags.contains(.key) })
            #expect(second.size == requested.resolved(source: other))
            #expect(ParameterSets(leading: second.bytes, codec: .h264) != nil)
            let fit = PictureFit(source: other, output: second.size)
            let last = try #require(try FFmpeg.decodeLuma(h264: recorder.stream, size: second.size).last)
            #expect(Pictures.counter(luma: last, size: second.size, content: fit) == 2)
        }
    }

    @Test("a requested keyframe carries the request's id")
    func keyframeRequest() async throws {
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(output: recorder)
        pipeline.offer(Self.frame(1))
        try await recorder.wait("the first picture") { !$0.isEmpty }
        pipeline.requestKeyframe(99)
        try await recorder.wait("the keyframe asked for") { $0.contains { $0.keyframeRequest == 99 } }
        pipeline.shutDown()
        #expect(recorder.units.filter { $0.keyframeRequest != 0 }.map(\.flags) == [[.key, .repeat]])
    }

    @Test("a session whose pictures the link dropped goes on with a keyframe")
    func afterADrop() async throws {
        final class Dropping: SessionOutput {
            let units = Mutex<[AccessUnit]>([])
            func send(_ accessUnit: AccessUnit, session: SessionID) -> Bool {
                units.withLock { units in
                    units.append(accessUnit)
                    return units.count != 3
                }
            }
            func sessionFailed(_ session: SessionID, _ failure: SessionFailure) {}
        }
        let output = Dropping()
        let pipeline = try SessionPipeline.started(output: output)
        pipeline.offer(Self.frame(1))
        _ = try await eventually("the picture after the drop") { output.units.withLock { $0.count >= 5 ? true : nil } }
        pipeline.shutDown()
        let keys = output.units.withLock { $0.prefix(5).map { $0.flags.contains(.key) } }
        #expect(keys == [true, false, false, true, false])
    }
}
