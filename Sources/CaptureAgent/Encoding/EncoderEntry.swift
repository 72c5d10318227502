package import Media

/// An encoder that sessions can use, as the catalogue lists it.
package struct EncoderEntry: Sendable {
    package enum Kind: Sendable, Equatable {
        /// Linked or loaded code that runs on any machine.
        case software
        /// An encoder that needs a device, which this machine may not have.
        case hardware
    }

    /// The encoder's name in requests, status and metrics.
    package let name: String
    package let codec: Codec
    package let kind: Kind
    /// The chroma that it can encode.
    package let chroma: Set<ChromaSampling>
    /// Returns a quickly found reason why it cannot work, such as a missing device file, for people; `nil` if there is
    /// none.
    package let obstacle: @Sendable () -> String?
    package let open: @Sendable (EncoderSettings) throws(EncoderError) -> any VideoEncoder

    package init(
        name: String,
        codec: Codec,
        kind: Kind,
        chroma: Set<ChromaSampling> = [.quarter],
        obstacle: @escaping @Sendable () -> String? = { nil },
        open: @escaping @Sendable (EncoderSettings) throws(EncoderError) -> any VideoEncoder
    ) {
        self.name = name
        self.codec = codec
        self.kind = kind
        self.chroma = chroma
        self.obstacle = obstacle
        self.open = open
    }
}

extension EncoderEntry {
    /// The encoders that the status lists and `auto` chooses from. For each codec: hardware by preference, then
    /// software.
    package static let listed = hardware + [x264, x265]

    package static let x264 = EncoderEntry(name: "x264", codec: .h264, kind: .software, chroma: [.quarter, .full]) {
        settings throws(EncoderError) in
        try X264Encoder(settings)
    }

    package static let x265 = EncoderEntry(name: "x265", codec: .h265, kind: .software, chroma: [.quarter, .full]) {
        settings throws(EncoderError) in
        try X265Encoder(settings)
    }
}

/// A test whether an encoder works on this machine: it must open and encode three small pictures.
enum EncoderProbe {
    /// A size that the hardware of every vendor accepts.
    private static let size = PictureSize(width: 320, height: 240)

    /// Returns why `entry` does not work here, or `nil` if it does.
    static func failure(of entry: EncoderEntry) -> String? {
        if let obstacle = entry.obstacle() { return obstacle }
        let settings = EncoderSettings(codec: entry.codec, size: size, fps: 30, bitrate: 1_000_000)
        do {
            let encoder = try entry.open(settings)
            let picture = PlanarPicture(size: size)
            picture.clear()
            // The first picture is always a keyframe, the second is predicted from it, and the third must become a
            // keyframe when asked.
            for (number, isKeyframe) in [true, false, true].enumerated() {
                // A moving bar, so that the second picture differs from the first.
                (picture.y + number * 16 * picture.lumaStride).update(repeating: 200, count: 16 * picture.lumaStride)
                let encoded = try encoder.encode(picture, forceKeyframe: isKeyframe)
                guard encoded.isKeyframe == isKeyframe else {
                    return "\(entry.name) does not make keyframes on request"
                }
                guard !isKeyframe || ParameterSets(leading: encoded.bytes, codec: entry.codec) != nil else {
                    return "\(entry.name) leaves the parameter sets out of its keyframes"
                }
            }
            return nil
        } catch {
            return error.description
        }
    }
}
