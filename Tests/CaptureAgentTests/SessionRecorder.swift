import CaptureAgent
import Media
import Synchronization
import TestSupport
import Wire

/// Gathers what a session puts out.
final class SessionRecorder: SessionOutput {
    private let state = Mutex<(units: [AccessUnit], failures: [SessionFailure])>(([], []))

    func send(_ accessUnit: AccessUnit, session: SessionID) -> Bool {
        state.withLock { $0.units.append(accessUnit) }
        return true
    }

    func sessionFailed(_ session: SessionID, _ failure: SessionFailure) {
        state.withLock { $0.failures.append(failure) }
    }

    var units: [AccessUnit] { state.withLock { $0.units } }
    var failures: [SessionFailure] { state.withLock { $0.failures } }
    var stream: [UInt8] { units.flatMap(\.bytes) }

    func wait(_ what: String, _ isDone: ([AccessUnit]) -> Bool) async throws {
        _ = try await eventually(what) { isDone(units) ? true : nil }
    }
}

extension EncoderCatalogue {
    /// The encoders that every agent links.
    static var software: EncoderCatalogue { EncoderCatalogue(entries: [.x264, .x265]) }
}

extension SessionPipeline {
    /// Session 1, with parameters that suit most tests.
    static func started(
        codec: Codec = .h264,
        encoder: String = SessionParameters.automaticEncoder,
        size: RequestedSize = RequestedSize(),
        fps: Int = 60,
        bitrate: Int = 6_000_000,
        repeats: Bool = true,
        keyframeInterval: Int = 60_000,
        catalogue: EncoderCatalogue = .software,
        output: any SessionOutput
    ) -> SessionPipeline {
        let parameters = SessionParameters(
            codec: codec,
            encoder: encoder,
            size: size,
            fps: fps,
            bitrate: bitrate,
            repeat: repeats,
            keyframeInterval: keyframeInterval,
            epoch: MonotonicClock.now
        )
        return SessionPipeline(id: 1, parameters: parameters, catalogue: catalogue, output: output)
    }
}
