package import Media

/// Turns pictures into access units. Owned by one thread.
package protocol VideoEncoder: AnyObject {
    /// The encoder's name in status and metrics, for example `x264`.
    var name: String { get }
    var settings: EncoderSettings { get }

    /// Encodes one picture, whose size is the settings'.
    ///
    /// Returns Annex B bytes and whether they are a keyframe. The first picture is one.
    func encode(_ picture: I420Picture, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture
}

package struct EncodedPicture {
    package var bytes: [UInt8]
    package var isKeyframe: Bool
}

/// Why an encoder does not work.
package enum EncoderError: Error, Equatable, CustomStringConvertible {
    case cannotOpen(encoder: String, settings: EncoderSettings)
    case failed(encoder: String)
    /// The encoder kept the picture back, which the low-delay settings rule out.
    case delayed(encoder: String)

    package var description: String {
        switch self {
        case .cannotOpen(let encoder, let settings):
            "\(encoder) cannot be opened for \(settings.size) at \(settings.fps) fps and \(settings.bitrate) bit/s: "
                + "try a smaller size or rate"
        case .failed(let encoder): "\(encoder) failed to encode a picture"
        case .delayed(let encoder): "\(encoder) returned no picture"
        }
    }
}
