import CaptureAgent
import Media
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("A session whose encoder fails")
struct SessionRecoveryTests {
    private static let size = PictureSize(width: 320, height: 240)

    private static func frame(_ number: UInt32) -> CapturedFrame {
        TestPatternSource.frame(number: number, size: size, captured: MonotonicClock.now)
    }

    private static func keyframePlaces(_ recorder: SessionRecorder) -> [Int] {
        recorder.units.enumerated().filter { $0.element.flags.contains(.key) }.map(\.offset)
    }

    /// Returns what the stream's pictures show.
    private static func shownCounters(_ recorder: SessionRecorder, codec: Codec = .h264) throws -> [Int?] {
        try FFmpeg.decodeLuma(recorder.stream, codec: codec, size: size).map { Pictures.counter(luma: $0, size: size) }
    }

    @Test(
        "goes on with the same picture, as a keyframe, in the same encoder opened again",
        arguments: ["x264", "x265", "libx264", "libx265"]
    )
    func sameEncoder(name: String) async throws {
        let base = try #require(
            EncoderCatalogue(entries: EncoderEntry.listed, resolve: EncoderEntry.libav(named:)).entry(named: name)
        )
        let plan = FailurePlan(fails: { $0 == 5 })
        let recorder = SessionRecorder()
        let catalogue = EncoderCatalogue(entries: [plan.entry(name: "flaky", kind: .software, base: base)])
        let pipeline = try SessionPipeline.started(codec: base.codec, catalogue: catalogue, output: recorder)
        pipeline.offer(Self.frame(3))
        try await recorder.wait("twelve pictures") { $0.count >= 12 }
        pipeline.shutDown()
        #expect(Self.keyframePlaces(recorder) == [0, 5])
        #expect(recorder.failures.isEmpty)
        #expect(pipeline.figures.counters.encoderRestarts == 1)
        #expect(pipeline.figures.counters.errors == 0)
        #expect(try Self.shownCounters(recorder, codec: base.codec) == recorder.units.map { _ in 3 })
    }

    @Test("shows in the end what came while no encoder worked", arguments: [true, false])
    func frameDuringFailure(repeats: Bool) async throws {
        let failures = Mutex(0)
        let plan = FailurePlan(fails: { _ in
            failures.withLock { left in
                defer { left = max(0, left - 1) }
                return left > 0
            }
        })
        let catalogue = EncoderCatalogue(entries: [plan.entry(name: "flaky", kind: .software)])
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(repeats: repeats, catalogue: catalogue, output: recorder)
        pipeline.offer(Self.frame(3))
        try await recorder.wait("the first picture") { !$0.isEmpty }
        // The second failure is followed by a pause.
        failures.withLock { $0 = 2 }
        pipeline.offer(Self.frame(4))
        _ = try await eventually("the failure") { pipeline.figures.counters.errors > 0 ? true : nil }
        pipeline.offer(Self.frame(5))
        _ = try await eventually("the last frame") { try Self.shownCounters(recorder).last == 5 ? true : nil }
        pipeline.shutDown()
        #expect(recorder.failures.isEmpty)
    }

    @Test("shows a static screen's picture though its first encoding failed", arguments: [true, false])
    func firstFrameFails(repeats: Bool) async throws {
        let plan = FailurePlan(fails: { $0 < 2 })
        let catalogue = EncoderCatalogue(entries: [plan.entry(name: "flaky", kind: .software)])
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(repeats: repeats, catalogue: catalogue, output: recorder)
        pipeline.offer(Self.frame(3))
        try await recorder.wait("a picture") { !$0.isEmpty }
        pipeline.shutDown()
        #expect(try Self.shownCounters(recorder).first == 3)
        #expect(pipeline.figures.counters.errors == 1)
    }

    @Test("falls back from hardware that keeps failing to software, and says so")
    func fallback() async throws {
        let breaks = try Event()
        let plan = FailurePlan(fails: { _ in breaks.isSet })
        let catalogue = EncoderCatalogue(entries: [plan.entry(name: "gpu", kind: .hardware), .x264])
        catalogue.probeAll(stop: try Event())
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(catalogue: catalogue, output: recorder)
        pipeline.offer(Self.frame(4))
        try await recorder.wait("two pictures") { $0.count >= 2 }
        #expect(pipeline.figures.encoder == "gpu")
        #expect(pipeline.figures.encoderReason == nil)
        breaks.set()
        // By now repeats may no longer need the encoder.
        pipeline.offer(Self.frame(4))
        _ = try await eventually("another encoder") { pipeline.figures.encoder == "x264" ? true : nil }
        let pictureCount = recorder.units.count
        try await recorder.wait("five more pictures") { $0.count >= pictureCount + 5 }
        pipeline.shutDown()
        let figures = pipeline.figures
        #expect(figures.encoder == "x264")
        #expect(figures.encoderReason?.contains("gpu failed") == true)
        #expect(figures.counters.encoderRestarts == 2)
        #expect(figures.counters.errors == 0)
        #expect(recorder.failures.isEmpty)
        #expect(Self.keyframePlaces(recorder).count == 2)
        #expect(try Self.shownCounters(recorder).allSatisfy { $0 == 4 })
    }

    @Test("takes hardware that is found while it runs with the next keyframe")
    func lateHardware() async throws {
        let catalogue = EncoderCatalogue(entries: [FailurePlan().entry(name: "gpu", kind: .hardware), .x264])
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(catalogue: catalogue, output: recorder)
        pipeline.offer(Self.frame(1))
        try await recorder.wait("two pictures") { $0.count >= 2 }
        #expect(pipeline.figures.encoder == "x264")
        #expect(pipeline.figures.encoderReason == "hardware encoders are still being tried")
        catalogue.probeAll(stop: try Event())
        pipeline.requestKeyframe(1)
        try await recorder.wait("the keyframe") { $0.contains { $0.keyframeRequest == 1 } }
        pipeline.shutDown()
        #expect(pipeline.figures.encoder == "gpu")
        #expect(pipeline.figures.counters.encoderRestarts == 0)
        #expect(try Self.shownCounters(recorder).allSatisfy { $0 == 1 })
    }

    @Test("has an error instead of an encoder that does not work here, before any frame comes")
    func unavailable() async throws {
        let plan = FailurePlan(refuses: { _ in true })
        let catalogue = EncoderCatalogue(entries: [plan.entry(name: "gpu", kind: .hardware), .x264, .x265])
        for (name, reason) in [
            ("gpu", "gpu cannot be opened"), ("x265", "it makes h265, not h264"), ("none", "neither this agent"),
        ] {
            let recorder = SessionRecorder()
            let pipeline = try SessionPipeline.started(encoder: name, catalogue: catalogue, output: recorder)
            let failure = try await eventually("the error") { recorder.failures.first }
            pipeline.offer(Self.frame(1))
            _ = try await eventually("the frame's end") { pipeline.figures.counters.errors == 1 ? true : nil }
            pipeline.shutDown()
            #expect(failure.code == .encoderUnavailable)
            #expect(failure.reason.contains(reason), "\(failure.reason)")
            #expect(recorder.failures.count == 1)
            #expect(recorder.units.isEmpty)
        }
        // It was probed once, and requested by at most two sessions.
        #expect(plan.openings == 1)
    }

    @Test("has an error once an encoder asked for by name keeps failing")
    func givesUp() async throws {
        let plan = FailurePlan(fails: { $0 >= 3 })
        let catalogue = EncoderCatalogue(entries: [plan.entry(name: "gpu", kind: .hardware), .x264])
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(encoder: "gpu", catalogue: catalogue, output: recorder)
        var number: UInt32 = 0
        let failure = try await eventually("the error") {
            pipeline.offer(Self.frame(number))
            number += 1
            return recorder.failures.first
        }
        pipeline.shutDown()
        #expect(failure.code == .encoderFailed)
        #expect(recorder.units.isEmpty)
        #expect(recorder.failures.count == 1)
        // The probe, the session's first encoder, and one after each failure except the last.
        #expect(plan.openings == 2 + 6)
    }
}
