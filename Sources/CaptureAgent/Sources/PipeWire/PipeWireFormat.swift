package import CPipeWire
package import Media

/// The raw video format that a stream has negotiated. It is one of those that the agent accepts.
package struct PipeWireFormat {
    package var size: PictureSize
    package var pixels: PixelFormat
    /// The layout of pictures in DMA-BUFs; `nil` if they are in memory.
    package var modifier: UInt64?

    /// Accepted formats in order of preference: the native formats of compositors come first.
    private static let accepted: [(spa: spa_video_format, pixels: PixelFormat)] = [
        (SPA_VIDEO_FORMAT_BGRx, .bgrx),
        (SPA_VIDEO_FORMAT_BGRA, .bgra),
        (SPA_VIDEO_FORMAT_RGBx, .rgbx),
        (SPA_VIDEO_FORMAT_RGBA, .rgba),
    ]

    /// The accepted layouts of DMA-BUFs: plain rows of pixels only.
    ///
    /// VA-API does not tell which other layouts a device can import. If a layout is named wrongly or left to the driver
    /// (`DRM_FORMAT_MOD_INVALID`), the device reads garbage without an error.
    private static let modifiers = [DMABuf.linear]

    /// Reads the format from `param`, a Format object. Returns `nil` if it is not one of the accepted formats.
    package init?(_ param: UnsafePointer<spa_pod>) {
        var info = spa_video_info_raw()
        guard spa_format_video_raw_parse(param, &info) >= 0, (2...8192).contains(info.size.width),
            (2...8192).contains(info.size.height),
            let format = Self.accepted.first(where: { $0.spa == info.format })
        else { return nil }
        size = PictureSize(width: Int(info.size.width), height: Int(info.size.height))
        pixels = format.pixels
        var modifier: UInt64 = 0
        if cpw_format_modifier(param, &modifier) {
            guard Self.modifiers.contains(modifier) else { return nil }
            self.modifier = modifier
        }
    }

    /// Runs `body` with the EnumFormat objects to offer, in order of preference.
    ///
    /// They offer the accepted formats at up to the demand's rate, in the given size, or in any size if it is `nil`.
    /// They offer DMA-BUFs if the demand accepts them, and memory in any case.
    package static func withOffers<Result>(
        for demand: SourceDemand.Value,
        size: PictureSize?,
        _ body: (inout [UnsafePointer<spa_pod>?]) throws -> Result
    ) rethrows -> Result {
        let formats = accepted.map { $0.spa.rawValue }
        return try withUnsafeTemporaryAllocation(byteCount: 2048, alignment: 8) { memory in
            let part = memory.count / 2
            let layouts: [[UInt64]] = demand.takesDMABuf ? [modifiers, []] : [[]]
            var offers = layouts.enumerated().map { index, modifiers in
                cpw_enum_format(
                    memory.baseAddress! + index * part,
                    UInt32(part),
                    formats,
                    UInt32(formats.count),
                    modifiers,
                    UInt32(modifiers.count),
                    UInt32(demand.maximumRate),
                    UInt32(size?.width ?? 0),
                    UInt32(size?.height ?? 0)
                )
            }
            return try body(&offers)
        }
    }

    /// Runs `body` with the parameters that ask for buffers and metadata.
    ///
    /// The buffers are DMA-BUFs if the format says so, otherwise memory that both sides can see.
    ///
    /// - Parameters:
    ///   - counts: Fewest, preferred and most buffers.
    ///   - withPointer: Whether to ask for the pointer as well.
    func withBufferWishes(
        counts: (Int32, Int32, Int32),
        withPointer: Bool,
        _ body: (inout [UnsafePointer<spa_pod>?]) -> Void
    ) {
        let isMemory = modifier == nil
        let types = isMemory ? [SPA_DATA_MemFd, SPA_DATA_MemPtr] : [SPA_DATA_DmaBuf]
        func only(_ size: Int) -> ClosedRange<Int> { size...size }
        var metadata: [(type: spa_meta_type, sizes: ClosedRange<Int>)] = [
            (SPA_META_Header, only(MemoryLayout<spa_meta_header>.size)),
            (SPA_META_VideoCrop, only(MemoryLayout<spa_meta_region>.size)),
            (SPA_META_VideoTransform, only(MemoryLayout<spa_meta_videotransform>.size)),
        ]
        if withPointer { metadata.append((SPA_META_Cursor, PipeWirePointer.metadataSizes)) }
        withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { memory in
            let part = memory.count / (1 + metadata.count) & ~7
            var wishes: [UnsafePointer<spa_pod>?] = [
                cpw_buffers_param(
                    memory.baseAddress,
                    UInt32(part),
                    // Without a size, GStreamer's pipelines hand out buffers without memory. The producer decides on
                    // the size of DMA-BUFs.
                    isMemory ? Int32(size.width * size.height * PixelFormat.bytesPerPixel) : 0,
                    counts.0,
                    counts.1,
                    counts.2,
                    types.reduce(0) { $0 | 1 << Int32($1.rawValue) }
                )
            ]
            for (index, (type, sizes)) in metadata.enumerated() {
                wishes.append(
                    cpw_meta_param(
                        memory.baseAddress! + (index + 1) * part,
                        UInt32(part),
                        type.rawValue,
                        Int32(sizes.lowerBound),
                        Int32(sizes.upperBound)
                    )
                )
            }
            body(&wishes)
        }
    }
}
