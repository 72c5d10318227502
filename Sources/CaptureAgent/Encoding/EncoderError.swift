package import Media
package import Wire

/// Why an encoder does not work.
package enum EncoderError: Error, Equatable, CustomStringConvertible {
    /// It does not work on this machine, whatever the settings.
    case unavailable(encoder: String, reason: String)
    /// It does not take these settings.
    case cannotOpen(encoder: String, settings: EncoderSettings, reason: String? = nil)
    /// It stopped working while it was open.
    case failed(encoder: String, reason: String? = nil)
    /// It kept the picture back, which the low-delay settings rule out.
    case delayed(encoder: String)

    package var description: String {
        switch self {
        case .unavailable(let encoder, let reason):
            "\(encoder) is not available: \(reason); ask for another encoder, or for auto"
        case .cannotOpen(let encoder, let settings, let reason):
            "\(encoder) cannot be opened for \(settings.size) at \(settings.fps) fps and \(settings.bitrate) bit/s"
                + (reason.map { " (\($0))" } ?? "") + ": try another size or rate"
        case .failed(let encoder, let reason):
            "\(encoder) failed to encode a picture" + (reason.map { ": \($0)" } ?? "")
        case .delayed(let encoder):
            "\(encoder) returned no picture for the one that it was given"
        }
    }

    /// What the relay is told when a session ends up with this error.
    package var sessionFailure: SessionFailure {
        let code: SessionFailure.Code =
            switch self {
            case .unavailable: .encoderUnavailable
            case .cannotOpen: .encoderRefused
            case .failed, .delayed: .encoderFailed
            }
        return SessionFailure(code: code, reason: description)
    }
}
