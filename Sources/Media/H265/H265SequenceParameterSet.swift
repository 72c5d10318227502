/// An H.265 sequence parameter set, `seq_parameter_set_rbsp( )` of 7.3.2.2: the fields that repeats and containers
/// need.
package struct H265SequenceParameterSet: Sendable, Equatable {
    /// `sps_seq_parameter_set_id`, 0 to 15.
    package let id: Int
    /// `sps_max_sub_layers_minus1` + 1, 1 to 7.
    package let subLayers: Int
    /// `sps_temporal_id_nesting_flag`.
    package let isTemporallyNested: Bool
    package let profileTierLevel: H265ProfileTierLevel
    /// `chroma_format_idc`, 0 to 3.
    package let chromaFormat: Int
    /// `ChromaArrayType`, 0 to 3.
    package let chromaArrayType: Int
    package let hasSeparateColourPlanes: Bool
    /// The coded size in luma samples; both sides are multiples of the smallest coding block.
    package let size: PictureSize
    /// The size of the conformance window in luma samples, which is what players show.
    package let croppedSize: PictureSize
    /// The bits per luma and chroma sample, 8 to 16.
    package let (lumaDepth, chromaDepth): (Int, Int)
    /// `log2_max_pic_order_cnt_lsb_minus4` + 4: the number of bits of `slice_pic_order_cnt_lsb`, 4 to 16.
    package let pictureOrderWidth: Int
    /// `MinCbLog2SizeY`, 3 to 6.
    package let smallestBlockLog2: Int
    /// `CtbLog2SizeY`, 4 to 6.
    package let treeBlockLog2: Int
    package let hasAdaptiveOffset: Bool
    package let referencePictureSets: [H265ReferencePictureSet]
    package let hasLongTermReferences: Bool
    /// `sps_temporal_mvp_enabled_flag`.
    package let hasTemporalMotion: Bool
    /// `field_seq_flag`.
    package let isFieldSequence: Bool
    /// Whether HRD parameters, picture timing messages or a clock of picture order counts are announced.
    package let timesPictures: Bool
    /// The start of the video usability information; `nil` if there is none.
    package let signal: VideoSignal?
    /// Whether there are extensions other than the range extension.
    package let hasExtensions: Bool

    /// `PicSizeInCtbsY`.
    package var treeBlocks: Int {
        let rest = 1 << treeBlockLog2 &- 1
        return (size.width &+ rest) >> treeBlockLog2 &* (size.height &+ rest) >> treeBlockLog2
    }

    /// `MaxLumaPs` of level 6.2 (table A.8), and the longest side that it allows (A.4.2).
    private static let (largestPicture, longestSide) = (35_651_584, 16_888)

    /// - Parameter unit: The NAL unit, starting at its header.
    package init(unit: ArraySlice<UInt8>) throws(BitstreamError) {
        var reader = BitReader(unit)
        // The unit's header and sps_video_parameter_set_id.
        try reader.skip(16 + 4)
        subLayers = try reader.u(3) &+ 1
        guard subLayers <= 7 else { throw .outOfRange("sps_max_sub_layers_minus1") }
        isTemporallyNested = try reader.flag()
        profileTierLevel = try H265ProfileTierLevel(&reader, subLayers: subLayers)
        id = try reader.ue("sps_seq_parameter_set_id", in: 0...15)

        chromaFormat = try reader.ue("chroma_format_idc", in: 0...3)
        hasSeparateColourPlanes = chromaFormat == 3 ? try reader.flag() : false
        chromaArrayType = hasSeparateColourPlanes ? 0 : chromaFormat
        size = PictureSize(
            width: try reader.ue("pic_width_in_luma_samples", in: 1...Self.longestSide),
            height: try reader.ue("pic_height_in_luma_samples", in: 1...Self.longestSide)
        )
        guard size.width &* size.height <= Self.largestPicture else { throw .outOfRange("PicSizeInSamplesY") }
        // SubWidthC and SubHeightC (table 6-1).
        let (columns, rows) = (chromaFormat == 1 || chromaFormat == 2 ? 2 : 1, chromaFormat == 1 ? 2 : 1)
        croppedSize = try reader.flag() ? try size.cropped(&reader, columns: columns, rows: rows) : size
        lumaDepth = try reader.ue("bit_depth_luma_minus8", in: 0...8) &+ 8
        chromaDepth = try reader.ue("bit_depth_chroma_minus8", in: 0...8) &+ 8
        pictureOrderWidth = try reader.ue("log2_max_pic_order_cnt_lsb_minus4", in: 0...12) &+ 4
        try H265CommonSyntax.skipSubLayerOrdering(&reader, subLayers: subLayers)

        smallestBlockLog2 = try reader.ue("log2_min_luma_coding_block_size_minus3", in: 0...3) &+ 3
        treeBlockLog2 = try reader.ue("log2_diff_max_min_luma_coding_block_size", in: 0...3) &+ smallestBlockLog2
        guard (4...6).contains(treeBlockLog2) else { throw .outOfRange("CtbLog2SizeY") }
        guard (size.width | size.height) & (1 << smallestBlockLog2 &- 1) == 0 else {
            throw .outOfRange("pic_width_in_luma_samples")
        }
        // Transform block sizes and depths.
        try reader.skipCodes(4)
        if try reader.flag(), try reader.flag() { try H265CommonSyntax.skipScalingLists(&reader) }
        // amp_enabled_flag
        try reader.skip(1)
        hasAdaptiveOffset = try reader.flag()
        if try reader.flag() {
            try reader.skip(8)
            try reader.skipCodes(2)
            try reader.skip(1)
        }

        var sets: [H265ReferencePictureSet] = []
        let setCount = try reader.ue("num_short_term_ref_pic_sets", in: 0...64)
        while sets.count < setCount {
            sets.append(try H265ReferencePictureSet(&reader, sets: sets, isInSlice: false))
        }
        referencePictureSets = sets
        hasLongTermReferences = try reader.flag()
        if hasLongTermReferences {
            let count = try reader.ue("num_long_term_ref_pics_sps", in: 0...32)
            try reader.skip(count &* (pictureOrderWidth &+ 1))
        }
        hasTemporalMotion = try reader.flag()
        // strong_intra_smoothing_enabled_flag
        try reader.skip(1)
        let usability = try reader.flag() ? try H265VideoUsability(&reader) : nil
        signal = usability?.signal
        isFieldSequence = usability?.isFieldSequence ?? false
        timesPictures = usability?.timesPictures ?? false
        // HRD parameters and everything after them are not read.
        hasExtensions = usability?.hasHRD ?? false ? false : try H265CommonSyntax.readExtensions(&reader)
    }
}
