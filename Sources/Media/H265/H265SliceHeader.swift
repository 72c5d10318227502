/// The header of an H.265 slice segment, `slice_segment_header( )` of 7.3.6.1, up to the modification of reference
/// lists.
package struct H265SliceHeader: Sendable, Equatable {
    /// `slice_type` (table 7-7).
    package enum Kind: Int, Sendable {
        case b, p, i
    }

    /// The fields of an independent slice segment, which the dependent segments after it take over.
    package struct Slice: Sendable, Equatable {
        package let kind: Kind
        /// `slice_pic_order_cnt_lsb` (0 in IDR pictures), and its position below (`nil` in IDR pictures).
        package let pictureOrder: Int
        package let pictureOrderField: BitField?
        /// The references; empty in IDR pictures.
        package let references: [H265ReferencePictureSet.Reference]
        /// `slice_temporal_mvp_enabled_flag`.
        package let hasTemporalMotion: Bool
        /// `num_ref_idx_l0_active_minus1` + 1; 0 in I slices.
        package let activeReferences: Int
        /// `ref_pic_list_modification_flag_l0`.
        package let modifiesList: Bool
    }

    /// Whether the picture is an IDR picture: `nal_unit_type` is IDR_W_RADL or IDR_N_LP.
    package let isIDR: Bool
    /// `first_slice_segment_in_pic_flag`.
    package let isFirst: Bool
    /// `slice_pic_parameter_set_id`.
    package let parameterSetID: Int
    /// `slice_segment_address`.
    package let address: Int
    /// The slice's fields; `nil` in a dependent slice segment.
    package let slice: Slice?

    /// - Parameters:
    ///   - unit: The NAL unit, starting at its header; its type is TRAIL_R, IDR_W_RADL or IDR_N_LP.
    ///   - parameterSet: Returns the picture parameter set for a `slice_pic_parameter_set_id`, and the sequence
    ///     parameter set that it names. Both must be admitted, because separate colour planes and long-term references
    ///     are not read.
    package init(
        unit: ArraySlice<UInt8>,
        parameterSet: (Int) -> (H265PictureParameterSet, H265SequenceParameterSet)?
    ) throws(BitstreamError) {
        var reader = BitReader(unit)
        let type = try reader.u(16) >> 9
        isIDR = type == 19 || type == 20
        isFirst = try reader.flag()
        // no_output_of_prior_pics_flag of random access pictures.
        if (16...23).contains(type) { try reader.skip(1) }
        parameterSetID = try reader.ue("slice_pic_parameter_set_id", in: 0...63)
        guard let (picture, sequence) = parameterSet(parameterSetID) else {
            throw .outOfRange("slice_pic_parameter_set_id")
        }
        var isDependent = false
        if isFirst {
            address = 0
        } else {
            isDependent = picture.hasDependentSegments ? try reader.flag() : false
            address = try reader.u(Self.width(of: sequence.treeBlocks))
        }
        slice = isDependent ? nil : try Self.readSlice(&reader, isIDR: isIDR, picture, sequence)
    }

    private static func readSlice(
        _ reader: inout BitReader,
        isIDR: Bool,
        _ picture: H265PictureParameterSet,
        _ sequence: H265SequenceParameterSet
    ) throws(BitstreamError) -> Slice {
        try reader.skip(picture.extraHeaderBits)
        guard let kind = Kind(rawValue: try reader.ue()) else { throw .outOfRange("slice_type") }
        // pic_output_flag
        if picture.hasOutputFlag { try reader.skip(1) }
        var (order, field, hasTemporalMotion) = (0, BitField?.none, false)
        var references: [H265ReferencePictureSet.Reference] = []
        if !isIDR {
            field = BitField(position: reader.position, width: sequence.pictureOrderWidth)
            order = try reader.u(sequence.pictureOrderWidth)
            references = try readReferencePictureSet(&reader, sequence).references
            hasTemporalMotion = sequence.hasTemporalMotion ? try reader.flag() : false
        }
        // slice_sao_luma_flag and slice_sao_chroma_flag
        if sequence.hasAdaptiveOffset { try reader.skip(sequence.chromaArrayType == 0 ? 1 : 2) }
        var (active, modifiesList) = (0, false)
        if kind != .i {
            active = picture.activeReferences
            if try reader.flag() {
                active = try reader.ue("num_ref_idx_l0_active_minus1", in: 0...14) &+ 1
                if kind == .b { try reader.skipCodes() }
            }
            if picture.hasListModification, references.count(where: \.isUsed) > 1 { modifiesList = try reader.flag() }
        }
        return Slice(
            kind: kind,
            pictureOrder: order,
            pictureOrderField: field,
            references: references,
            hasTemporalMotion: hasTemporalMotion,
            activeReferences: active,
            modifiesList: modifiesList
        )
    }

    private static func readReferencePictureSet(
        _ reader: inout BitReader,
        _ sequence: H265SequenceParameterSet
    ) throws(BitstreamError) -> H265ReferencePictureSet {
        let sets = sequence.referencePictureSets
        // short_term_ref_pic_set_sps_flag
        guard try reader.flag() else {
            return try H265ReferencePictureSet(&reader, sets: sets, isInSlice: true)
        }
        guard let set = sets[at: try reader.u(width(of: sets.count))] else {
            throw .outOfRange("short_term_ref_pic_set_idx")
        }
        return set
    }

    /// Ceil( Log2( count ) )
    private static func width(of count: Int) -> Int {
        count > 1 ? Int.bitWidth &- (count &- 1).leadingZeroBitCount : 0
    }
}
