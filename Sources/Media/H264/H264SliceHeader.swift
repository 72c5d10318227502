/// The header of an H.264 slice, `slice_header( )` of 7.3.3, up to the marking of reference pictures.
package struct H264SliceHeader: Sendable, Equatable {
    /// `slice_type` modulo 5: without the statement that all slices of the picture have the same type (table 7-6).
    package enum Kind: Int, Sendable {
        case p, b, i, sp, si
    }

    /// `IdrPicFlag`: `nal_unit_type` is 5.
    package let isIDR: Bool
    /// Whether `nal_ref_idc` is other than 0.
    package let isReference: Bool
    /// `first_mb_in_slice`.
    package let firstMacroblock: Int
    package let kind: Kind
    /// `pic_parameter_set_id`.
    package let parameterSetID: Int
    /// `frame_num`, and its position below.
    package let frameNumber: Int
    package let frameNumberField: BitField
    package let isField: Bool
    /// `idr_pic_id`, and its position below; `nil` unless it is an IDR picture.
    package let keyframeID: Int?
    package let keyframeIDField: BitField?
    /// `pic_order_cnt_lsb`, and its position below; `nil` for picture order types other than 0.
    package let pictureOrder: Int?
    package let pictureOrderField: BitField?
    /// `num_ref_idx_l0_active_minus1` + 1; 0 in intra slices.
    package let activeReferences: Int
    /// Whether `ref_pic_list_modification( )` of list 0 changes the order. Saying that the last picture comes first
    /// does not.
    package let modifiesList: Bool
    /// `long_term_reference_flag` of an IDR picture.
    package let isLongTerm: Bool
    /// `adaptive_ref_pic_marking_mode_flag`: memory management control operations follow.
    package let hasMemoryOperations: Bool

    /// - Parameters:
    ///   - unit: The NAL unit, starting at its header; `nal_unit_type` is 1 or 5.
    ///   - parameterSet: Returns the picture parameter set for a `pic_parameter_set_id`, and the sequence parameter set
    ///     that it names.
    package init(
        unit: ArraySlice<UInt8>,
        parameterSet: (Int) -> (H264PictureParameterSet, H264SequenceParameterSet)?
    ) throws(BitstreamError) {
        var reader = BitReader(unit)
        let unitHeader = try reader.u(8)
        isIDR = unitHeader & 0x1F == 5
        isReference = unitHeader & 0x60 != 0
        firstMacroblock = try reader.ue()
        let type = try reader.ue("slice_type", in: 0...9)
        guard let kind = Kind(rawValue: type % 5) else { throw .outOfRange("slice_type") }
        self.kind = kind
        parameterSetID = try reader.ue("pic_parameter_set_id", in: 0...255)
        guard let (picture, sequence) = parameterSet(parameterSetID) else { throw .outOfRange("pic_parameter_set_id") }

        if sequence.hasSeparateColourPlanes { try reader.skip(2) }
        frameNumberField = BitField(position: reader.position, width: sequence.frameNumberWidth)
        frameNumber = try reader.u(sequence.frameNumberWidth)
        isField = sequence.isFramesOnly ? false : try reader.flag()
        // bottom_field_flag
        if isField { try reader.skip(1) }
        if isIDR {
            let start = reader.position
            keyframeID = try reader.ue("idr_pic_id", in: 0...65_535)
            keyframeIDField = BitField(position: start, width: reader.position &- start)
        } else {
            (keyframeID, keyframeIDField) = (nil, nil)
        }
        if sequence.pictureOrderType == 0 {
            pictureOrderField = BitField(position: reader.position, width: sequence.pictureOrderWidth)
            pictureOrder = try reader.u(sequence.pictureOrderWidth)
        } else {
            (pictureOrderField, pictureOrder) = (nil, nil)
        }
        try Self.skipPictureOrderDeltas(&reader, sequence, picture, isField: isField)
        if picture.hasRedundantPictures { try reader.skipCodes() }

        // direct_spatial_mv_pred_flag
        if kind == .b { try reader.skip(1) }
        (activeReferences, modifiesList) = try Self.readReferences(&reader, kind, picture)
        if (picture.isWeighted && (kind == .p || kind == .sp)) && !modifiesList {
            try Self.skipWeights(&reader, references: activeReferences, hasChroma: sequence.chromaArrayType != 0)
        }

        // After a modified list or in a B slice, the marking is not read, because neither is ever admitted.
        guard isReference, !modifiesList, kind != .b else {
            (isLongTerm, hasMemoryOperations) = (false, false)
            return
        }
        if isIDR {
            // no_output_of_prior_pics_flag
            try reader.skip(1)
            (isLongTerm, hasMemoryOperations) = (try reader.flag(), false)
        } else {
            (isLongTerm, hasMemoryOperations) = (false, try reader.flag())
        }
    }

    private static func skipPictureOrderDeltas(
        _ reader: inout BitReader,
        _ sequence: H264SequenceParameterSet,
        _ picture: H264PictureParameterSet,
        isField: Bool
    ) throws(BitstreamError) {
        let hasFieldOrder = picture.hasFieldOrder && !isField
        switch sequence.pictureOrderType {
        case 0 where hasFieldOrder: try reader.skipCodes()
        case 1 where !sequence.isPictureOrderDeltaAlwaysZero:
            try reader.skipCodes(hasFieldOrder ? 2 : 1)
        default: break
        }
    }

    /// Reads the number of active references of list 0, and whether that list is modified (7.3.3.1).
    private static func readReferences(
        _ reader: inout BitReader,
        _ kind: Kind,
        _ picture: H264PictureParameterSet
    ) throws(BitstreamError) -> (active: Int, modified: Bool) {
        guard kind != .i, kind != .si else { return (0, false) }
        var active = picture.activeReferences
        if try reader.flag() {
            active = try reader.ue("num_ref_idx_l0_active_minus1", in: 0...31) &+ 1
            if kind == .b { try reader.skipCodes() }
        }
        guard try reader.flag() else { return (active, false) }
        var operations: [[Int]] = []
        while case let operation = try reader.ue("modification_of_pic_nums_idc", in: 0...3), operation < 3 {
            // 7.4.3.1. Without this limit, a slice of 16 MiB would fill gigabytes.
            guard operations.count < active else { throw .outOfRange("modification_of_pic_nums_idc") }
            operations.append([operation, try reader.ue()])
        }
        // abs_diff_pic_num_minus1 0 below the picture itself means the last picture.
        return (active, operations != [[0, 0]])
    }

    /// Skips `pred_weight_table( )` of 7.3.3.2 for list 0.
    private static func skipWeights(
        _ reader: inout BitReader,
        references: Int,
        hasChroma: Bool
    ) throws(BitstreamError) {
        try reader.skipCodes(hasChroma ? 2 : 1)
        for _ in stride(from: 0, to: references, by: 1) {
            if try reader.flag() { try reader.skipCodes(2) }
            if hasChroma, try reader.flag() { try reader.skipCodes(4) }
        }
    }
}
