import CaptureAgent
import Media
import Synchronization

/// Says which pictures an encoder that is made to fail does not encode.
final class FailurePlan: Sendable {
    private let state: Mutex<(pictures: Int, openings: Int)> = Mutex((0, 0))
    private let fails: @Sendable (Int) -> Bool
    private let refuses: @Sendable (Int) -> Bool

    /// - Parameters:
    ///   - fails: Whether the picture of that number, counted over all encoders of the plan, fails.
    ///   - refuses: Whether the opening of that number fails.
    init(
        fails: @escaping @Sendable (Int) -> Bool = { _ in false },
        refuses: @escaping @Sendable (Int) -> Bool = { _ in false }
    ) {
        self.fails = fails
        self.refuses = refuses
    }

    var openings: Int { state.withLock { $0.openings } }

    func nextPictureFails() -> Bool {
        state.withLock { state in
            defer { state.pictures += 1 }
            return fails(state.pictures)
        }
    }

    func nextOpeningFails() -> Bool {
        state.withLock { state in
            defer { state.openings += 1 }
            return refuses(state.openings)
        }
    }

    func entry(name: String, kind: EncoderEntry.Kind) -> EncoderEntry {
        EncoderEntry(name: name, codec: .h264, kind: kind) { settings throws(EncoderError) in
            if self.nextOpeningFails() { throw .cannotOpen(encoder: name, settings: settings) }
            return try FailingEncoder(name: name, settings: settings, plan: self)
        }
    }
}

/// x264, as far as its plan lets it.
final class FailingEncoder: VideoEncoder {
    let name: String
    private let encoder: X264Encoder
    private let plan: FailurePlan

    init(name: String, settings: EncoderSettings, plan: FailurePlan) throws(EncoderError) {
        self.name = name
        self.plan = plan
        encoder = try X264Encoder(settings)
    }

    var settings: EncoderSettings { encoder.settings }

    func encode(_ picture: I420Picture, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture {
        if plan.nextPictureFails() { throw .failed(encoder: name) }
        return try encoder.encode(picture, forceKeyframe: forceKeyframe)
    }

    func reconfigure(bitrate: Int, fps: Int) -> Bool { encoder.reconfigure(bitrate: bitrate, fps: fps) }
}
