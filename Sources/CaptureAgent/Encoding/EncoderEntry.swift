package import Media

/// One encoder that sessions can use, as the catalogue knows it.
package struct EncoderEntry: Sendable {
    package enum Kind: Sendable, Equatable {
        /// Linked or loaded code that runs on any machine.
        case software
        /// Needs a device that this machine may not have.
        case hardware
    }

    /// Its name in requests, status and metrics.
    package let name: String
    package let codec: Codec
    package let kind: Kind
    /// What speaks against it at a glance, such as a missing device file, for a person; nil for nothing.
    package let obstacle: @Sendable () -> String?
    package let open: @Sendable (EncoderSettings) throws(EncoderError) -> any VideoEncoder

    package init(
        name: String,
        codec: Codec,
        kind: Kind,
        obstacle: @escaping @Sendable () -> String? = { nil },
        open: @escaping @Sendable (EncoderSettings) throws(EncoderError) -> any VideoEncoder
    ) {
        self.name = name
        self.codec = codec
        self.kind = kind
        self.obstacle = obstacle
        self.open = open
    }
}

extension EncoderEntry {
    /// What the status lists and `auto` chooses from: of each codec the hardware by preference, then software.
    package static let listed = hardware + [x264, x265]

    package static let x264 = EncoderEntry(name: "x264", codec: .h264, kind: .software) {
        settings throws(EncoderError) in
        try X264Encoder(settings)
    }

    package static let x265 = EncoderEntry(name: "x265", codec: .h265, kind: .software) {
        settings throws(EncoderError) in
        try X265Encoder(settings)
    }
}

/// Finds out whether an encoder works on this machine: it is opened and encodes three small pictures.
enum EncoderProbe {
    /// A size that every vendor's hardware takes.
    private static let size = PictureSize(width: 320, height: 240)

    /// Why `entry` does not work here, nil when it does.
    static func failure(of entry: EncoderEntry) -> String? {
        if let obstacle = entry.obstacle() { return obstacle }
        let settings = EncoderSettings(codec: entry.codec, size: size, fps: 30, bitrate: 1_000_000)
        do {
            let encoder = try entry.open(settings)
            let picture = I420Picture(size: size)
            picture.clear()
            // The first picture is a keyframe, the second is made from it, the third is a keyframe because it has to be.
            for (number, isKeyframe) in [true, false, true].enumerated() {
                // A moving bar, so that the second picture holds something.
                (picture.y + number * 16 * picture.lumaStride).update(repeating: 200, count: 16 * picture.lumaStride)
                let encoded = try encoder.encode(picture, forceKeyframe: isKeyframe)
                guard encoded.isKeyframe == isKeyframe else {
                    return "\(entry.name) does not make keyframes when it is told to"
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
