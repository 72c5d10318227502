import Media

/// The kinds of output of `watch`, by the file name's extension.
enum WatchOutput {
    /// The bare byte stream with this codec; `nil` for the session's codec.
    case stream(Codec?)
    case movie
    /// The sound alone, with this codec.
    case sound(SoundCodec)
    case picture(Snapshot.Format)

    static let allowed = ".mp4, .h264, .h265, .ogg, .opus, .aac, .jpg or .png"

    /// - Parameters:
    ///   - isAudioOnly: Whether standard output gets the sound.
    ///   - codec: The codec of that.
    init?(path: String, isAudioOnly: Bool, codec: SoundCodec) {
        guard path != "-" else {
            self = isAudioOnly ? .sound(codec) : .stream(nil)
            return
        }
        if let format = Snapshot.Format(path: path) {
            self = .picture(format)
            return
        }
        switch path.fileExtension {
        case "mp4": self = .movie
        case "ogg", "opus": self = .sound(.opus)
        case "aac": self = .sound(.aac)
        case "h264", "264": self = .stream(.h264)
        case "h265", "265", "hevc": self = .stream(.h265)
        default: return nil
        }
    }

    var isSound: Bool {
        if case .sound = self { true } else { false }
    }

    /// The codec that the file's name asks for.
    var codec: Codec? {
        if case .stream(let codec) = self { codec } else { nil }
    }
}
