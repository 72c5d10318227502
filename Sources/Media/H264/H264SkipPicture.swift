/// A picture of P_Skip macroblocks only: an exact copy of its only reference picture.
///
/// Every macroblock predicts zero motion (8.4.1.1: the first has no neighbours, and the neighbours of the others do not
/// move), there is no residual, and the deblocking filter is off. It is written in CAVLC with its own picture parameter
/// set, whatever the entropy coding of the stream.
enum H264SkipPicture {
    /// Returns `pic_parameter_set_rbsp( )` (7.3.2.2) as a unit of the byte stream.
    static func parameterSet(id: Int, sequenceID: Int) -> [UInt8] {
        var writer = BitWriter()
        writer.u(8, 0x68)  // nal_ref_idc 3, nal_unit_type 8
        writer.ue(id)
        writer.ue(sequenceID)
        writer.flag(false)  // entropy_coding_mode_flag: CAVLC
        writer.flag(false)  // bottom_field_pic_order_in_frame_present_flag
        writer.ue(0)  // num_slice_groups_minus1
        writer.ue(0)  // num_ref_idx_l0_default_active_minus1
        writer.ue(0)  // num_ref_idx_l1_default_active_minus1
        writer.flag(false)  // weighted_pred_flag
        writer.u(2, 0)  // weighted_bipred_idc
        writer.se(0)  // pic_init_qp_minus26
        writer.se(0)  // pic_init_qs_minus26
        writer.se(0)  // chroma_qp_index_offset
        writer.flag(true)  // deblocking_filter_control_present_flag
        writer.flag(false)  // constrained_intra_pred_flag
        writer.flag(false)  // redundant_pic_cnt_present_flag
        writer.trailingBits()
        return writer.annexBUnit()
    }

    /// Returns the picture's only slice (7.3.3, 7.3.4) as a unit of the byte stream.
    ///
    /// - Parameters:
    ///   - frameNumber: `frame_num`, below 2 to the power of its width.
    ///   - pictureOrder: `pic_order_cnt_lsb`, written if the stream has it.
    static func slice(
        parameterSetID: Int,
        sequence: H264SequenceParameterSet,
        frameNumber: Int,
        pictureOrder: Int
    ) -> [UInt8] {
        var writer = BitWriter()
        writer.u(8, 0x41)  // nal_ref_idc 2, nal_unit_type 1
        writer.ue(0)  // first_mb_in_slice
        writer.ue(5)  // slice_type: P, like every slice of the picture
        writer.ue(parameterSetID)
        writer.u(sequence.frameNumberWidth, frameNumber)
        writer.u(sequence.pictureOrderWidth, pictureOrder)
        writer.flag(false)  // num_ref_idx_active_override_flag
        writer.flag(false)  // ref_pic_list_modification_flag_l0
        writer.flag(false)  // adaptive_ref_pic_marking_mode_flag
        writer.se(0)  // slice_qp_delta
        writer.ue(1)  // disable_deblocking_filter_idc
        writer.ue(sequence.macroblocks)  // mb_skip_run
        writer.trailingBits()
        return writer.annexBUnit()
    }
}
