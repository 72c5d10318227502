import CPipeWire
import Media

/// The raw video format that a stream has settled on, one of those that the agent takes.
struct PipeWireFormat {
    var size: PictureSize
    var pixels: PixelFormat

    /// In order of preference: what compositors hand out natively comes first.
    private static let accepted: [(spa: spa_video_format, pixels: PixelFormat)] = [
        (SPA_VIDEO_FORMAT_BGRx, .bgrx),
        (SPA_VIDEO_FORMAT_BGRA, .bgra),
        (SPA_VIDEO_FORMAT_RGBx, .rgbx),
        (SPA_VIDEO_FORMAT_RGBA, .rgba),
    ]

    /// What `param`, a Format object, fixes; nil when it is not one of the accepted formats.
    init?(_ param: UnsafePointer<spa_pod>) {
        var info = spa_video_info_raw()
        guard spa_format_video_raw_parse(param, &info) >= 0, (2...8192).contains(info.size.width),
            (2...8192).contains(info.size.height),
            let format = Self.accepted.first(where: { $0.spa == info.format })
        else { return nil }
        size = PictureSize(width: Int(info.size.width), height: Int(info.size.height))
        pixels = format.pixels
    }

    /// Runs `body` with an EnumFormat object that offers the accepted formats at up to `maximumRate` frames per second,
    /// in the given size or, when it is nil, in any.
    static func withOffer<Result>(
        maximumRate: Int,
        size: PictureSize?,
        _ body: (inout UnsafePointer<spa_pod>?) -> Result
    ) -> Result {
        let formats = accepted.map { $0.spa.rawValue }
        return withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { memory in
            var offer = cpw_enum_format(
                memory.baseAddress,
                UInt32(memory.count),
                formats,
                UInt32(formats.count),
                UInt32(maximumRate),
                UInt32(size?.width ?? 0),
                UInt32(size?.height ?? 0)
            )
            return body(&offer)
        }
    }
}
