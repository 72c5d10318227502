package import Media
package import Wire

/// The reason why an encoder does not work.
package enum EncoderError: Error, Equatable, CustomStringConvertible {
    /// The encoder does not work on this machine, whatever the settings.
    case unavailable(encoder: String, reason: String)
    /// The encoder rejects these settings.
    case cannotOpen(encoder: String, settings: EncoderSettings, reason: String? = nil)
    /// The encoder stopped working while it was open.
    case failed(encoder: String, reason: String? = nil)
    /// The encoder did not return the picture at once, although the low-delay settings require it.
    case delayed(encoder: String)
    /// The encoder made a keyframe that is too large for a packet.
    case tooLong(encoder: String)
    /// The system refuses a resource that the encoder needs.
    case shortage(encoder: String, ResourceShortage)

    /// Whether the error may pass without intervention, with another picture or after some time.
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
                + (settings.chroma == .full ? " with chroma 444" : "")
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

    /// The failure that the relay is told if a session ends up with this error.
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
