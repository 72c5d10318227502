/// `seq_parameter_set_rbsp( )` of ITU-T H.265 7.3.2.2.1, up to the reference pictures.
struct H265Sequence: Equatable {
    let id: Int
    let pictureOrderWidth: Int
    let referenceSets: [[H265Reference]]
    let hasLongTermReferences: Bool

    init(_ unit: [UInt8]) throws(SyntaxReader.Malformed) {
        var reader = SyntaxReader(unit)
        _ = try reader.u(16 + 4)
        let subLayers = try reader.u(3)
        _ = try reader.flag()
        try Self.skipProfile(&reader, subLayers: subLayers)
        id = try reader.ue()
        if try reader.ue() == 3 { _ = try reader.flag() }
        try reader.skipUE(2)
        // conformance_window_flag
        if try reader.flag() { try reader.skipUE(4) }
        try reader.skipUE(2)
        pictureOrderWidth = try reader.ue() + 4
        let layers = try reader.flag() ? subLayers + 1 : 1
        try reader.skipUE(3 * layers)
        // Sizes of coding and transform blocks, depths of transform trees.
        try reader.skipUE(6)
        // scaling_list_enabled_flag, sps_scaling_list_data_present_flag
        if try reader.flag(), try reader.flag() { throw SyntaxReader.Malformed() }
        _ = try reader.u(2)
        // pcm_enabled_flag
        if try reader.flag() {
            _ = try reader.u(8)
            try reader.skipUE(2)
            _ = try reader.flag()
        }
        var sets: [[H265Reference]] = []
        for _ in 0..<(try reader.ue()) { sets.append(try H265Reference.set(&reader, sets: sets, isInSlice: false)) }
        referenceSets = sets
        hasLongTermReferences = try reader.flag()
    }

    /// `profile_tier_level( )` of 7.3.3.
    private static func skipProfile(_ reader: inout SyntaxReader, subLayers: Int) throws(SyntaxReader.Malformed) {
        for width in [32, 32, 32] { _ = try reader.u(width) }
        guard subLayers > 0 else { return }
        var parts: [(Bool, Bool)] = []
        for _ in 0..<subLayers { parts.append((try reader.flag(), try reader.flag())) }
        _ = try reader.u(2 * (8 - subLayers))
        for (hasProfile, hasLevel) in parts {
            if hasProfile { for width in [32, 32, 24] { _ = try reader.u(width) } }
            if hasLevel { _ = try reader.u(8) }
        }
    }
}

/// `pic_parameter_set_rbsp( )` of ITU-T H.265 7.3.2.3.1: the fields that slice headers depend on.
struct H265Picture: Equatable {
    let id: Int
    let sequenceID: Int
    let hasOutputFlag: Bool
    let extraBits: Int

    init(_ unit: [UInt8]) throws(SyntaxReader.Malformed) {
        var reader = SyntaxReader(unit)
        _ = try reader.u(16)
        id = try reader.ue()
        sequenceID = try reader.ue()
        _ = try reader.flag()
        hasOutputFlag = try reader.flag()
        extraBits = try reader.u(3)
    }
}

/// A picture that a picture of an H.265 stream lists to be kept.
struct H265Reference: Equatable {
    /// Its picture order count minus that of the picture that lists it.
    let distance: Int
    /// Whether that picture may refer to it; later ones may in any case.
    let isUsed: Bool

    /// `st_ref_pic_set( )` of 7.3.7, with the derivation of 7.4.8.
    static func set(
        _ reader: inout SyntaxReader,
        sets: [[H265Reference]],
        isInSlice: Bool
    ) throws(SyntaxReader.Malformed) -> [H265Reference] {
        if !sets.isEmpty, try reader.flag() { return try predicted(&reader, sets: sets, isInSlice: isInSlice) }
        let counts = [try reader.ue(), try reader.ue()]
        guard counts.allSatisfy({ $0 <= 16 }) else { throw SyntaxReader.Malformed() }
        var references: [H265Reference] = []
        for (count, direction) in zip(counts, [-1, 1]) {
            var distance = 0
            for _ in 0..<count {
                distance += try direction * (reader.ue() + 1)
                references.append(H265Reference(distance: distance, isUsed: try reader.flag()))
            }
        }
        return references
    }

    private static func predicted(
        _ reader: inout SyntaxReader,
        sets: [[H265Reference]],
        isInSlice: Bool
    ) throws(SyntaxReader.Malformed) -> [H265Reference] {
        let back = isInSlice ? try reader.ue() + 1 : 1
        guard back <= sets.count else { throw SyntaxReader.Malformed() }
        let isNegative = try reader.flag()
        let size = try reader.ue() + 1
        var references: [H265Reference] = []
        for distance in sets[sets.count - back].map(\.distance) + [0] {
            let isUsed = try reader.flag()
            let isKept = isUsed ? true : try reader.flag()
            let own = distance + (isNegative ? -size : size)
            if isKept, own != 0 { references.append(H265Reference(distance: own, isUsed: isUsed)) }
        }
        return references
    }
}

/// The first `slice_segment_header( )` of a picture, ITU-T H.265 7.3.6.1, up to the reference pictures.
struct H265Slice: Equatable {
    /// `nal_unit_type`
    let type: Int
    let pictureID: Int
    /// `slice_type`: 1 for P, 2 for I.
    let kind: Int
    /// `slice_pic_order_cnt_lsb`; 0 in keyframes.
    let pictureOrder: Int
    let references: [H265Reference]

    var isIDR: Bool { type == 19 || type == 20 }

    static func isFirst(_ unit: [UInt8]) -> Bool { unit.count > 2 && unit[2] & 0x80 != 0 }

    /// The id of the picture parameter set that a slice names.
    static func pictureID(_ unit: [UInt8]) throws(SyntaxReader.Malformed) -> Int {
        var reader = SyntaxReader(unit)
        return try skipHead(&reader).pictureID
    }

    private static func skipHead(
        _ reader: inout SyntaxReader
    ) throws(SyntaxReader.Malformed) -> (type: Int, pictureID: Int) {
        let type = try reader.u(16) >> 9 & 0x3F
        _ = try reader.flag()
        // no_output_of_prior_pics_flag
        if (16...23).contains(type) { _ = try reader.flag() }
        return (type, try reader.ue())
    }

    init(_ unit: [UInt8], _ picture: H265Picture, _ sequence: H265Sequence) throws(SyntaxReader.Malformed) {
        var reader = SyntaxReader(unit)
        (type, pictureID) = try Self.skipHead(&reader)
        _ = try reader.u(picture.extraBits)
        kind = try reader.ue()
        if picture.hasOutputFlag { _ = try reader.flag() }
        guard type != 19, type != 20 else {
            (pictureOrder, references) = (0, [])
            return
        }
        pictureOrder = try reader.u(sequence.pictureOrderWidth)
        let sets = sequence.referenceSets
        // short_term_ref_pic_set_sps_flag
        guard try reader.flag() else {
            references = try H265Reference.set(&reader, sets: sets, isInSlice: true)
            return
        }
        var width = 0
        while 1 << width < sets.count { width += 1 }
        let index = try reader.u(width)
        guard sets.indices.contains(index) else { throw SyntaxReader.Malformed() }
        references = sets[index]
    }
}
