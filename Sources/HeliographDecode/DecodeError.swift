/// Why a picture could not be decoded.
public enum DecodeError: Error, Sendable, Hashable, CustomStringConvertible {
    /// libavcodec has no decoder for the codec.
    case unsupported(codec: String)
    /// The samples of pictures have a form that frames do not: more than 8 bits, or 4:2:2.
    case unsupportedSamples
    /// The picture, or one before it, is damaged. Pictures are left out until the next keyframe.
    case damaged
    /// libavcodec refused, and says why.
    case library(String)

    public var description: String {
        switch self {
        case .unsupported(let codec): "libavcodec has no decoder for \(codec): install the distribution's libavcodec"
        case .unsupportedSamples: "the pictures' samples are neither 4:2:0 nor 4:4:4 of 8 bits"
        case .damaged: "a picture is damaged: ask for a keyframe"
        case .library(let reason): "libavcodec failed: \(reason)"
        }
    }
}
