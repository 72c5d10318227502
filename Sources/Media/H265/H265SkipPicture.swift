/// A picture of skipped coding units only: an exact copy of its only reference picture.
///
/// With one merge candidate, no temporal prediction and one reference, every unit predicts zero motion from that
/// reference (8.5.3.2.2 to 8.5.3.2.5: the first has no neighbours, and the neighbours of the others do not move). There
/// is no residual, and the deblocking filter and the sample adaptive offset are off. Its own picture parameter set uses
/// no optional tools.
enum H265SkipPicture {
    /// `SliceQpY`. It affects only the initial states of the contexts; with this value, the picture is smallest.
    private static let qp = 51

    /// Returns `pic_parameter_set_rbsp( )` (7.3.2.3) as a unit of the byte stream.
    static func parameterSet(id: Int, sequenceID: Int) -> [UInt8] {
        var writer = BitWriter()
        writer.u(16, 34 << 9 | 1)  // nal_unit_type 34, layer 0, nuh_temporal_id_plus1 1
        writer.ue(id)
        writer.ue(sequenceID)
        writer.flag(false)  // dependent_slice_segments_enabled_flag
        writer.flag(false)  // output_flag_present_flag
        writer.u(3, 0)  // num_extra_slice_header_bits
        writer.flag(false)  // sign_data_hiding_enabled_flag
        writer.flag(false)  // cabac_init_present_flag
        writer.ue(0)  // num_ref_idx_l0_default_active_minus1
        writer.ue(0)  // num_ref_idx_l1_default_active_minus1
        writer.se(qp - 26)  // init_qp_minus26
        writer.flag(false)  // constrained_intra_pred_flag
        writer.flag(false)  // transform_skip_enabled_flag
        writer.flag(false)  // cu_qp_delta_enabled_flag
        writer.se(0)  // pps_cb_qp_offset
        writer.se(0)  // pps_cr_qp_offset
        writer.flag(false)  // pps_slice_chroma_qp_offsets_present_flag
        writer.flag(false)  // weighted_pred_flag
        writer.flag(false)  // weighted_bipred_flag
        writer.flag(false)  // transquant_bypass_enabled_flag
        writer.flag(false)  // tiles_enabled_flag
        writer.flag(false)  // entropy_coding_sync_enabled_flag
        writer.flag(false)  // pps_loop_filter_across_slices_enabled_flag
        writer.flag(true)  // deblocking_filter_control_present_flag
        writer.flag(false)  // deblocking_filter_override_enabled_flag
        writer.flag(true)  // pps_deblocking_filter_disabled_flag
        writer.flag(false)  // pps_scaling_list_data_present_flag
        writer.flag(false)  // lists_modification_present_flag
        writer.ue(0)  // log2_parallel_merge_level_minus2
        writer.flag(false)  // slice_segment_header_extension_present_flag
        writer.flag(false)  // pps_extension_present_flag
        writer.trailingBits()
        return writer.annexBUnit()
    }

    /// Returns the picture's only slice segment (7.3.6.1, 7.3.8) as a unit of the byte stream.
    ///
    /// - Parameters:
    ///   - pictureOrder: `slice_pic_order_cnt_lsb`: that of the picture before it plus 1.
    ///   - data: ``data(for:)`` of the same sequence.
    static func slice(
        parameterSetID: Int,
        sequence: H265SequenceParameterSet,
        pictureOrder: Int,
        data: [UInt8]
    ) -> [UInt8] {
        var writer = BitWriter()
        writer.u(16, 1 << 9 | 1)  // nal_unit_type TRAIL_R, layer 0, nuh_temporal_id_plus1 1
        writer.flag(true)  // first_slice_segment_in_pic_flag
        writer.ue(parameterSetID)
        writer.ue(1)  // slice_type P
        writer.u(sequence.pictureOrderWidth, pictureOrder)
        writer.flag(false)  // short_term_ref_pic_set_sps_flag
        if !sequence.referencePictureSets.isEmpty { writer.flag(false) }  // inter_ref_pic_set_prediction_flag
        writer.ue(1)  // num_negative_pics
        writer.ue(0)  // num_positive_pics
        writer.ue(0)  // delta_poc_s0_minus1: the picture before
        writer.flag(true)  // used_by_curr_pic_s0_flag
        if sequence.hasTemporalMotion { writer.flag(false) }  // slice_temporal_mvp_enabled_flag
        if sequence.hasAdaptiveOffset {
            writer.flag(false)  // slice_sao_luma_flag
            if sequence.chromaArrayType != 0 { writer.flag(false) }  // slice_sao_chroma_flag
        }
        writer.flag(false)  // num_ref_idx_active_override_flag
        writer.ue(4)  // five_minus_max_num_merge_cand: one candidate, so merge_idx is absent
        writer.se(0)  // slice_qp_delta
        writer.trailingBits()
        writer.append(data)
        return writer.annexBUnit()
    }

    /// Returns `slice_segment_data( )` with its trailing bits, which is the same for every skip picture of a sequence.
    static func data(for sequence: H265SequenceParameterSet) -> [UInt8] {
        var tree = SkippedCodingTree(sequence, qp: qp)
        return tree.encode()
    }
}

/// The coding quadtrees of a picture in which every unit is skipped and as large as possible.
private struct SkippedCodingTree {
    private let (width, height): (Int, Int)
    private let (treeLog2, smallestLog2): (Int, Int)
    /// The depth of the coding unit over each smallest block; `nil` if none has been coded there.
    private var depths: [Int?]
    private let stride: Int
    private var encoder = CABACEncoder()
    /// `split_cu_flag` and `cu_skip_flag` in P slices (tables 9-7 and 9-9), three contexts each.
    private var splitContexts: [CABACEncoder.Context]
    private var skipContexts: [CABACEncoder.Context]

    init(_ sequence: H265SequenceParameterSet, qp: Int) {
        (width, height) = (sequence.size.width, sequence.size.height)
        (treeLog2, smallestLog2) = (sequence.treeBlockLog2, sequence.smallestBlockLog2)
        stride = width >> smallestLog2
        depths = Array(repeating: nil, count: stride * (height >> smallestLog2))
        splitContexts = [107, 139, 126].map { CABACEncoder.Context(initValue: $0, qp: qp) }
        skipContexts = [197, 185, 201].map { CABACEncoder.Context(initValue: $0, qp: qp) }
    }

    mutating func encode() -> [UInt8] {
        let side = 1 << treeLog2
        for y in Swift.stride(from: 0, to: height, by: side) {
            for x in Swift.stride(from: 0, to: width, by: side) {
                encodeQuadtree(x: x, y: y, log2: treeLog2, depth: 0)
                encoder.encodeEnd(x + side >= width && y + side >= height)
            }
        }
        return encoder.finish()
    }

    /// Encodes `coding_quadtree( )` of 7.3.8.4 with `coding_unit( )` of 7.3.8.5; contexts are selected as in 9.3.4.2.2.
    private mutating func encodeQuadtree(x: Int, y: Int, log2: Int, depth: Int) {
        let side = 1 << log2
        guard x + side <= width, y + side <= height else {
            // Beyond the picture's edge, a block is split without a flag.
            for (x, y) in [(x, y), (x + side / 2, y), (x, y + side / 2), (x + side / 2, y + side / 2)]
            where x < width && y < height {
                encodeQuadtree(x: x, y: y, log2: log2 - 1, depth: depth + 1)
            }
            return
        }
        let neighbours = [x > 0 ? self.depth(x: x - 1, y: y) : nil, y > 0 ? self.depth(x: x, y: y - 1) : nil]
            .compactMap { $0 }
        if log2 > smallestLog2 {
            encoder.encode(false, in: &splitContexts[neighbours.count { $0 > depth }])
        }
        encoder.encode(true, in: &skipContexts[neighbours.count])
        for row in (y >> smallestLog2)..<((y + side) >> smallestLog2) {
            for column in (x >> smallestLog2)..<((x + side) >> smallestLog2) {
                depths[row * stride + column] = depth
            }
        }
    }

    private func depth(x: Int, y: Int) -> Int? {
        depths[(y >> smallestLog2) * stride + (x >> smallestLog2)]
    }
}
