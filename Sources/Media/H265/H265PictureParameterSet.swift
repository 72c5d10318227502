/// An H.265 picture parameter set, `pic_parameter_set_rbsp( )` of 7.3.2.3: the fields that slice headers depend on.
package struct H265PictureParameterSet: Sendable, Equatable {
    /// `pps_pic_parameter_set_id`, 0 to 63.
    package let id: Int
    /// `pps_seq_parameter_set_id`, 0 to 15.
    package let sequenceID: Int
    /// `dependent_slice_segments_enabled_flag`.
    package let hasDependentSegments: Bool
    /// `output_flag_present_flag`.
    package let hasOutputFlag: Bool
    /// `num_extra_slice_header_bits`.
    package let extraHeaderBits: Int
    /// `num_ref_idx_l0_default_active_minus1` + 1, 1 to 15.
    package let activeReferences: Int
    /// `lists_modification_present_flag`.
    package let hasListModification: Bool
    /// Whether there are extensions other than the range extension.
    package let hasExtensions: Bool

    /// - Parameter unit: The NAL unit, starting at its header.
    package init(unit: ArraySlice<UInt8>) throws(BitstreamError) {
        var reader = BitReader(unit)
        try reader.skip(16)
        id = try reader.ue("pps_pic_parameter_set_id", in: 0...63)
        sequenceID = try reader.ue("pps_seq_parameter_set_id", in: 0...15)
        hasDependentSegments = try reader.flag()
        hasOutputFlag = try reader.flag()
        extraHeaderBits = try reader.u(3)
        // sign_data_hiding_enabled_flag and cabac_init_present_flag
        try reader.skip(2)
        activeReferences = try reader.ue("num_ref_idx_l0_default_active_minus1", in: 0...14) &+ 1
        // num_ref_idx_l1_default_active_minus1 and init_qp_minus26
        try reader.skipCodes(2)
        // constrained_intra_pred_flag and transform_skip_enabled_flag
        try reader.skip(2)
        // cu_qp_delta_enabled_flag
        if try reader.flag() { try reader.skipCodes() }
        // pps_cb_qp_offset and pps_cr_qp_offset
        try reader.skipCodes(2)
        // pps_slice_chroma_qp_offsets_present_flag, weighted prediction, transquant_bypass_enabled_flag
        try reader.skip(4)
        let hasTiles = try reader.flag()
        // entropy_coding_sync_enabled_flag
        try reader.skip(1)
        if hasTiles { try Self.skipTiles(&reader) }
        // pps_loop_filter_across_slices_enabled_flag
        try reader.skip(1)
        if try reader.flag() { try Self.skipDeblocking(&reader) }
        if try reader.flag() { try H265CommonSyntax.skipScalingLists(&reader) }
        hasListModification = try reader.flag()
        // log2_parallel_merge_level_minus2
        try reader.skipCodes()
        // slice_segment_header_extension_present_flag
        try reader.skip(1)
        hasExtensions = try H265CommonSyntax.readExtensions(&reader)
    }

    private static func skipTiles(_ reader: inout BitReader) throws(BitstreamError) {
        // A.4.1 allows at most 20 columns and 22 rows.
        let columns = try reader.ue("num_tile_columns_minus1", in: 0...19)
        let rows = try reader.ue("num_tile_rows_minus1", in: 0...21)
        // uniform_spacing_flag
        if try !reader.flag() { try reader.skipCodes(columns &+ rows) }
        // loop_filter_across_tiles_enabled_flag
        try reader.skip(1)
    }

    private static func skipDeblocking(_ reader: inout BitReader) throws(BitstreamError) {
        // deblocking_filter_override_enabled_flag
        try reader.skip(1)
        // pps_deblocking_filter_disabled_flag, otherwise two offsets.
        if try !reader.flag() { try reader.skipCodes(2) }
    }
}
