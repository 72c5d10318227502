import CaptureAgent
import Media
import Synchronization

/// A plan of which pictures an encoder fails to encode.
final class FailurePlan: Sendable {
    private let state: Mutex<(pictures: Int, openings: Int)> = Mutex((0, 0))
    private let fails: @Sendable (Int) -> Bool
    private let refuses: @Sendable (Int) -> Bool

    /// - Parameters:
    ///   - fails: Whether the picture with that number, counted over all encoders of the plan, fails.
    ///   - refuses: Whether opening the encoder with that number fails.
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

    /// Returns an encoder that is `base` by another name, with the plan's failures.
    func entry(name: String, kind: EncoderEntry.Kind, base: EncoderEntry = .x264) -> EncoderEntry {
        EncoderEntry(name: name, codec: base.codec, kind: kind) { settings throws(EncoderError) in
            if self.nextOpeningFails() { throw .cannotOpen(encoder: name, settings: settings) }
            return FailingEncoder(name: name, encoder: try base.open(settings), plan: self)
        }
    }
}

/// A real encoder with its plan's failures.
final class FailingEncoder: VideoEncoder {
    let name: String
    private let encoder: any VideoEncoder
    private let plan: FailurePlan

    init(name: String, encoder: any VideoEncoder, plan: FailurePlan) {
        self.name = name
        self.encoder = encoder
        self.plan = plan
    }

    var settings: EncoderSettings { encoder.settings }

    func encode(_ picture: PlanarPicture, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture {
        if plan.nextPictureFails() { throw .failed(encoder: name) }
        var encoded = try encoder.encode(picture, forceKeyframe: forceKeyframe)
        // A static picture is encoded again while it can still become better.
        encoded.isCapped = true
        return encoded
    }

    func reconfigure(bitrate: Int, burst: Int, fps: Int) -> Bool {
        encoder.reconfigure(bitrate: bitrate, burst: burst, fps: fps)
    }
}
