/// An H.264 sequence parameter set, `seq_parameter_set_data( )` of 7.3.2.1.1: the fields that repeats and containers
/// need.
package struct H264SequenceParameterSet: Sendable, Equatable {
    /// `seq_parameter_set_id`, 0 to 31.
    package let id: Int
    /// `profile_idc`, the byte with the constraint flags, and `level_idc`, which codec strings and `avcC` repeat.
    package let (profile, constraints, level): (UInt8, UInt8, UInt8)
    /// Whether the profile signals a chroma format and bit depths.
    package let signalsChroma: Bool
    /// `chroma_format_idc`, 0 to 3.
    package let chromaFormat: Int
    /// The bits per luma and chroma sample, 8 to 14.
    package let (lumaDepth, chromaDepth): (Int, Int)
    /// `ChromaArrayType`, 0 to 3 (7.4.2.1.1).
    package let chromaArrayType: Int
    package let hasSeparateColourPlanes: Bool
    /// `log2_max_frame_num_minus4` + 4: the number of bits of `frame_num`, 4 to 16.
    package let frameNumberWidth: Int
    /// `pic_order_cnt_type`, 0 to 2.
    package let pictureOrderType: Int
    /// `log2_max_pic_order_cnt_lsb_minus4` + 4: the number of bits of `pic_order_cnt_lsb`, 4 to 16; 0 for types other
    /// than 0.
    package let pictureOrderWidth: Int
    /// `delta_pic_order_always_zero_flag` of picture order type 1.
    package let isPictureOrderDeltaAlwaysZero: Bool
    /// `max_num_ref_frames`.
    package let referenceFrames: Int
    package let isFramesOnly: Bool
    /// `PicSizeInMbs` of a frame.
    package let macroblocks: Int
    /// The size of a frame's cropping rectangle in luma samples, which is what players show.
    package let croppedSize: PictureSize
    /// The start of the video usability information; `nil` if there is none.
    package let signal: VideoSignal?
    /// Whether HRD parameters or picture timing messages are announced (E.1.1).
    package let timesPictures: Bool

    /// `MaxFS` of the highest level, 6.2 (table A-1).
    private static let largestFrame = 139_264
    /// The profiles that signal a chroma format.
    private static let chromaProfiles: Set<UInt8> = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]

    /// - Parameter unit: The NAL unit, starting at its header.
    package init(unit: ArraySlice<UInt8>) throws(BitstreamError) {
        var reader = BitReader(unit)
        try reader.skip(8)
        profile = try reader.u8()
        constraints = try reader.u8()
        level = try reader.u8()
        id = try reader.ue("seq_parameter_set_id", in: 0...31)

        var (format, separate, depths) = (1, false, (8, 8))
        signalsChroma = Self.chromaProfiles.contains(profile)
        if signalsChroma {
            format = try reader.ue("chroma_format_idc", in: 0...3)
            if format == 3 { separate = try reader.flag() }
            depths.0 = try reader.ue("bit_depth_luma_minus8", in: 0...6) &+ 8
            depths.1 = try reader.ue("bit_depth_chroma_minus8", in: 0...6) &+ 8
            // qpprime_y_zero_transform_bypass_flag
            try reader.skip(1)
            if try reader.flag() { try Self.skipScalingLists(format == 3 ? 12 : 8, &reader) }
        }
        chromaFormat = format
        (lumaDepth, chromaDepth) = depths
        hasSeparateColourPlanes = separate
        chromaArrayType = separate ? 0 : chromaFormat

        frameNumberWidth = try reader.ue("log2_max_frame_num_minus4", in: 0...12) &+ 4
        pictureOrderType = try reader.ue("pic_order_cnt_type", in: 0...2)
        pictureOrderWidth =
            pictureOrderType == 0 ? try reader.ue("log2_max_pic_order_cnt_lsb_minus4", in: 0...12) &+ 4 : 0
        isPictureOrderDeltaAlwaysZero = pictureOrderType == 1 ? try Self.readPictureOrderCycle(&reader) : false

        referenceFrames = try reader.ue("max_num_ref_frames", in: 0...16)
        // gaps_in_frame_num_value_allowed_flag
        try reader.skip(1)
        let width = try reader.ue("pic_width_in_mbs_minus1", in: 0...Self.largestFrame) &+ 1
        let height = try reader.ue("pic_height_in_map_units_minus1", in: 0...Self.largestFrame) &+ 1
        isFramesOnly = try reader.flag()
        macroblocks = width &* height &* (isFramesOnly ? 1 : 2)
        guard macroblocks <= Self.largestFrame else { throw .outOfRange("PicSizeInMbs") }
        // mb_adaptive_frame_field_flag and direct_8x8_inference_flag
        try reader.skip(isFramesOnly ? 1 : 2)
        let size = PictureSize(width: 16 &* width, height: 16 &* height &* (isFramesOnly ? 1 : 2))
        // CropUnitX and CropUnitY (7.4.2.1.1).
        let columns = chromaArrayType == 1 || chromaArrayType == 2 ? 2 : 1
        let rows: Int = (chromaArrayType == 1 ? 2 : 1) &* (isFramesOnly ? 1 : 2)
        croppedSize = try reader.flag() ? try size.cropped(&reader, columns: columns, rows: rows) : size
        let hasUsability = try reader.flag()
        signal = hasUsability ? try VideoSignal(&reader) : nil
        timesPictures = hasUsability ? try Self.readTiming(&reader) : false
    }

    /// Reads the fields of picture order type 1.
    ///
    /// - Returns: `delta_pic_order_always_zero_flag`.
    private static func readPictureOrderCycle(_ reader: inout BitReader) throws(BitstreamError) -> Bool {
        let isAlwaysZero = try reader.flag()
        try reader.skipCodes(2)
        try reader.skipCodes(try reader.ue("num_ref_frames_in_pic_order_cnt_cycle", in: 0...255))
        return isAlwaysZero
    }

    /// Skips `scaling_list( )` of 7.3.2.1.1.1, `count` times, each if present.
    private static func skipScalingLists(_ count: Int, _ reader: inout BitReader) throws(BitstreamError) {
        for list in stride(from: 0, to: count, by: 1) where try reader.flag() {
            var (last, next) = (8, 8)
            for _ in stride(from: 0, to: list < 6 ? 16 : 64, by: 1) where next != 0 {
                next = try (last &+ reader.se()) & 0xFF
                if next != 0 { last = next }
            }
        }
    }

    /// Reads `vui_parameters( )` of E.1.1 after the ``VideoSignal``, up to `pic_struct_present_flag`.
    ///
    /// - Returns: Whether the stream times its pictures.
    private static func readTiming(_ reader: inout BitReader) throws(BitstreamError) -> Bool {
        if try reader.flag() { try reader.skip(65) }
        // HRD parameters settle the answer, so reading can stop here.
        if try reader.flag() { return true }
        if try reader.flag() { return true }
        return try reader.flag()
    }
}
