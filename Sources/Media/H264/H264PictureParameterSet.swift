/// An H.264 picture parameter set, `pic_parameter_set_rbsp( )` of 7.3.2.2: the fields that slice headers depend on.
///
/// With several slice groups, reading stops after their number: their map may be long, and such streams are not
/// admitted.
package struct H264PictureParameterSet: Sendable, Equatable {
    /// `pic_parameter_set_id`, 0 to 255.
    package let id: Int
    /// `seq_parameter_set_id`, 0 to 31.
    package let sequenceID: Int
    /// `bottom_field_pic_order_in_frame_present_flag`.
    package let hasFieldOrder: Bool
    /// `num_slice_groups_minus1` + 1.
    package let sliceGroups: Int
    /// `num_ref_idx_l0_default_active_minus1` + 1, 1 to 32.
    package let activeReferences: Int
    /// `weighted_pred_flag`.
    package let isWeighted: Bool
    /// `redundant_pic_cnt_present_flag`.
    package let hasRedundantPictures: Bool

    /// - Parameter unit: The NAL unit, starting at its header.
    package init(unit: ArraySlice<UInt8>) throws(BitstreamError) {
        var reader = BitReader(unit)
        try reader.skip(8)
        id = try reader.ue("pic_parameter_set_id", in: 0...255)
        sequenceID = try reader.ue("seq_parameter_set_id", in: 0...31)
        // entropy_coding_mode_flag
        try reader.skip(1)
        hasFieldOrder = try reader.flag()
        sliceGroups = try reader.ue("num_slice_groups_minus1", in: 0...7) &+ 1
        guard sliceGroups == 1 else {
            (activeReferences, isWeighted, hasRedundantPictures) = (1, false, false)
            return
        }
        activeReferences = try reader.ue("num_ref_idx_l0_default_active_minus1", in: 0...31) &+ 1
        try reader.skipCodes()
        isWeighted = try reader.flag()
        // weighted_bipred_idc
        try reader.skip(2)
        // pic_init_qp_minus26, pic_init_qs_minus26, chroma_qp_index_offset
        try reader.skipCodes(3)
        // deblocking_filter_control_present_flag and constrained_intra_pred_flag
        try reader.skip(2)
        hasRedundantPictures = try reader.flag()
    }
}
