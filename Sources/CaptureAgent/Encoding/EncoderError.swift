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
    /// It made a keyframe that no packet has room for.
    case tooLong(encoder: String)
    /// The system refuses what it takes.
    case shortage(encoder: String, ResourceShortage)

    /// Whether it may pass by itself, with another picture or with time.
    var isPassing: Bool {
        switch self {
        case .tooLong, .shortage: true
        case .unavailable, .cannotOpen, .failed, .delayed: false
        }
    }

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
        case .tooLong(let encoder):
            "\(encoder) made a keyframe of more than \(AccessUnit.maximumByteCount) bytes, which the relay does not take: "
                + "lower the session's size or bitrate"
        case .shortage(let encoder, let shortage):
            "\(encoder) cannot be opened. \(shortage)"
        }
    }

    /// What the relay is told when a session ends up with this error.
    package var sessionFailure: SessionFailure {
        let code: SessionFailure.Code =
            switch self {
            case .unavailable: .encoderUnavailable
            case .cannotOpen: .encoderRefused
            case .failed, .delayed, .tooLong: .encoderFailed
            case .shortage: .outOfResources
            }
        return SessionFailure(code: code, reason: description)
    }
}
