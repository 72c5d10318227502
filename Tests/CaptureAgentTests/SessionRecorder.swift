import CaptureAgent
import Media
import Synchronization
import TestSupport
import Wire

/// Collects a session's output.
final class SessionRecorder: SessionOutput {
    private struct State {
        var units: [AccessUnit] = []
        var failures: [SessionFailure] = []
        var rests: [Rest] = []
        var wakes = 0
    }

    private let takesRest: Bool
    private let state = Mutex(State())

    init(takesRest: Bool = false) {
        self.takesRest = takesRest
    }

    func send(_ accessUnit: AccessUnit, session: SessionID) -> Bool {
        state.withLock { $0.units.append(accessUnit) }
        return true
    }

    func sessionFailed(_ session: SessionID, _ failure: SessionFailure) {
        state.withLock { $0.failures.append(failure) }
    }

    func rest(_ session: SessionID, _ rest: Rest) -> Bool {
        if takesRest { state.withLock { $0.rests.append(rest) } }
        return takesRest
    }

    func wake(_ session: SessionID) {
        state.withLock { $0.wakes += 1 }
    }

    var units: [AccessUnit] { state.withLock { $0.units } }
    var failures: [SessionFailure] { state.withLock { $0.failures } }
    var rests: [Rest] { state.withLock { $0.rests } }
    var wakes: Int { state.withLock { $0.wakes } }
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
        keyframeInterval: Int = 3_600_000,
        catalogue: EncoderCatalogue = .software,
        output: any SessionOutput,
        turns: EncodingTurns = EncodingTurns()
    ) throws -> SessionPipeline {
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
        return try SessionPipeline(id: 1, parameters: parameters, catalogue: catalogue, output: output, turns: turns)
    }
}
