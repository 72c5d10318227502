import CaptureAgent
import Media
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("A session whose picture is longer than the link takes")
struct LongPictureTests {
    private static let size = PictureSize(width: 320, height: 240)
    /// The room in a packet besides an access unit's fixed fields.
    private static let longest = PacketHeader.maximumLength - 44

    private static func frame(_ number: UInt32) -> CapturedFrame {
        TestPatternSource.frame(number: number, size: size, captured: MonotonicClock.now)
    }

    private static func keyframePlaces(_ units: [AccessUnit]) -> [Int] {
        units.enumerated().filter { $0.element.isKey }.map(\.offset)
    }

    @Test("encodes it again as a keyframe, so that none is missing")
    func again() async throws {
        let plan = LengthPlan { $0.number == 3 }
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(catalogue: plan.catalogue, output: recorder)
        pipeline.offer(Self.frame(3))
        try await recorder.wait("twelve pictures") { $0.count >= 12 }
        pipeline.shutDown()
        let units = recorder.units
        #expect(units.allSatisfy { $0.bytes.count <= Self.longest })
        #expect(Self.keyframePlaces(units) == [0, 3])
        #expect(recorder.failures.isEmpty)
        #expect(pipeline.figures.counters.errors == 0 && pipeline.figures.counters.encoderRestarts == 0)
        let pictures = try FFmpeg.decodeLuma(h264: recorder.stream, size: Self.size)
        #expect(pictures.map { Pictures.counter(luma: $0, size: Self.size) } == units.map { _ in 3 })
    }

    @Test("has an error that says what to do while its keyframes are too long, and goes on by itself when they are not")
    func everyKeyframe() async throws {
        let isLong = Mutex(false)
        let plan = LengthPlan { _ in isLong.withLock { $0 } }
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(catalogue: plan.catalogue, output: recorder)
        pipeline.offer(Self.frame(3))
        try await recorder.wait("a picture") { !$0.isEmpty }
        isLong.withLock { $0 = true }
        pipeline.offer(Self.frame(4))
        let failure = try await eventually("the error") { recorder.failures.first }
        #expect(failure.code == .encoderFailed)
        #expect(failure.reason.contains("lower the session's size or bitrate"), "\(failure.reason)")
        let place = recorder.units.count
        pipeline.offer(Self.frame(5))
        isLong.withLock { $0 = false }
        try await recorder.wait("five more pictures") { $0.count >= place + 5 }
        pipeline.shutDown()
        let units = recorder.units
        #expect(units.allSatisfy { $0.bytes.count <= Self.longest })
        #expect(Self.keyframePlaces(units) == [0, place])
        #expect(recorder.failures.count == 1)
        let pictures = try FFmpeg.decodeLuma(h264: recorder.stream, size: Self.size)
        #expect(Pictures.counter(luma: try #require(pictures.last), size: Self.size) == 5)
    }

    @Test("holds the keyframe of a static screen to its bitrate, if it is too long without")
    func staticKeyframe() async throws {
        let plan = LengthPlan { $0.isStatic }
        let recorder = SessionRecorder()
        let pipeline = try SessionPipeline.started(catalogue: plan.catalogue, output: recorder)
        pipeline.offer(Self.frame(3))
        for request: UInt32 in 1...3 {
            try await recorder.wait("a screen that has settled") { $0.last?.flags.contains(.skip) == true }
            pipeline.requestKeyframe(request)
            try await recorder.wait("keyframe \(request)") { $0.contains { $0.keyframeRequest == request } }
        }
        pipeline.shutDown()
        let units = recorder.units
        #expect(units.allSatisfy { $0.bytes.count <= Self.longest })
        #expect(recorder.failures.isEmpty)
        #expect(pipeline.figures.counters.errors == 0 && pipeline.figures.counters.encoderRestarts == 0)
        #expect(plan.staticKeyframes == 1, "it is not tried again with the same picture")
        let pictures = try FFmpeg.decodeLuma(h264: recorder.stream, size: Self.size)
        #expect(pictures.map { Pictures.counter(luma: $0, size: Self.size) } == units.map { _ in 3 })
    }
}

/// A plan of which pictures of an encoder are too long.
private final class LengthPlan: Sendable {
    struct Picture {
        /// The picture's number, counted over all encoders of the plan.
        var number: Int
        /// Whether it is a keyframe without the bitrate's cap.
        var isStatic: Bool
    }

    private let state: Mutex<(pictures: Int, staticKeyframes: Int)> = Mutex((0, 0))
    private let isLong: @Sendable (Picture) -> Bool

    init(isLong: @escaping @Sendable (Picture) -> Bool) { self.isLong = isLong }

    var staticKeyframes: Int { state.withLock { $0.staticKeyframes } }

    var catalogue: EncoderCatalogue {
        let entry = EncoderEntry(name: "long", codec: .h264, kind: .software) { settings throws(EncoderError) in
            LongEncoder(try X264Encoder(settings), plan: self)
        }
        return EncoderCatalogue(entries: [entry])
    }

    func nextIsLong(isStatic: Bool) -> Bool {
        state.withLock { state in
            defer { state.pictures += 1 }
            state.staticKeyframes += isStatic ? 1 : 0
            return isLong(Picture(number: state.pictures, isStatic: isStatic))
        }
    }
}

/// x264 that makes pictures too long for a packet according to its plan.
private final class LongEncoder: VideoEncoder {
    let name = "long"
    private let encoder: X264Encoder
    private let plan: LengthPlan

    init(_ encoder: X264Encoder, plan: LengthPlan) {
        (self.encoder, self.plan) = (encoder, plan)
    }

    var settings: EncoderSettings { encoder.settings }

    func encode(_ picture: PlanarPicture, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture {
        let isLong = plan.nextIsLong(isStatic: false)
        return lengthened(try encoder.encode(picture, forceKeyframe: forceKeyframe), isLong)
    }

    func encodeStaticKeyframe(_ picture: PlanarPicture) throws(EncoderError) -> EncodedPicture {
        let isLong = plan.nextIsLong(isStatic: true)
        return lengthened(try encoder.encodeStaticKeyframe(picture), isLong)
    }

    func reconfigure(bitrate: Int, burst: Int, fps: Int) -> Bool {
        encoder.reconfigure(bitrate: bitrate, burst: burst, fps: fps)
    }

    private func lengthened(_ picture: EncodedPicture, _ isLong: Bool) -> EncodedPicture {
        guard isLong else { return picture }
        var picture = picture
        // Filler data, H.264 7.3.2.7.
        picture.bytes += [0, 0, 0, 1, 0x0C] + [UInt8](repeating: 0xFF, count: PacketHeader.maximumLength) + [0x80]
        return picture
    }
}
