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
