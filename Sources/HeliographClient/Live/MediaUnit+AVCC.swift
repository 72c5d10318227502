import Media
import Packaging

extension MediaUnit {
    /// The access unit with lengths of four bytes in place of start codes (AVCC), as MP4 and some platforms' decoders
    /// want it. A packet of sound is as it was.
    public var lengthPrefixed: [UInt8] {
        guard case .picture = content else { return bytes }
        return LengthPrefixedPicture.bytes(of: bytes)
    }
}

extension PictureFormat {
    /// The parameter sets as such decoders want them: the content of a box `avcC` or `hvcC`; `nil` if they are damaged.
    public var decoderConfiguration: [UInt8]? {
        try? LengthPrefixedPicture.configuration(of: parameterSets, codec: isH265 ? .h265 : .h264)
    }

    /// Whether pictures are H.265. Otherwise they are H.264.
    public var isH265: Bool { codec.hasPrefix("hev") || codec.hasPrefix("hvc") }
}
