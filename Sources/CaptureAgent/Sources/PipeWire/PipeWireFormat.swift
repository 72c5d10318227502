package import CPipeWire
package import Media

/// The raw video format that a stream has settled on, one of those that the agent takes.
package struct PipeWireFormat {
    package var size: PictureSize
    package var pixels: PixelFormat
    /// The layout of pictures in DMA-BUFs; nil where they are in memory.
    package var modifier: UInt64?

    /// In order of preference: what compositors hand out natively comes first.
    private static let accepted: [(spa: spa_video_format, pixels: PixelFormat)] = [
        (SPA_VIDEO_FORMAT_BGRx, .bgrx),
        (SPA_VIDEO_FORMAT_BGRA, .bgra),
        (SPA_VIDEO_FORMAT_RGBx, .rgbx),
        (SPA_VIDEO_FORMAT_RGBA, .rgba),
    ]

    /// The layouts that are accepted in DMA-BUFs.
    ///
    /// Only rows of pixels: which other layouts a device imports, VA-API does not tell, and one that is named wrongly, or left
    /// to the driver (`DRM_FORMAT_MOD_INVALID`), is read as garbage without an error.
    private static let modifiers = [DMABuf.linear]

    /// What `param`, a Format object, fixes; nil when it is not one of the accepted formats.
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

    /// Runs `body` with EnumFormat objects, by preference, that offer the accepted formats at up to the demand's rate, in the given size or, when
    /// it is nil, in any: in DMA-BUFs where the demand takes them, and in memory.
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

    /// Runs `body` with the parameters by which a stream of this format asks for its buffers: DMA-BUFs where the format says so, else memory
    /// that both sides see; and for what is told about each picture.
    ///
    /// - Parameters:
    ///   - counts: Fewest, preferred and most buffers.
    ///   - withPointer: Whether the pointer is asked for as well.
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
                    // Without it, GStreamer's pipelines hand out buffers without memory. That of DMA-BUFs is the producer's matter.
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
