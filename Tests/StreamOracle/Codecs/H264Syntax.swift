/// `seq_parameter_set_data( )` of ITU-T H.264 7.3.2.1.1, up to the picture's size.
struct H264Sequence: Equatable {
    /// The profiles whose parameter sets contain the chroma format.
    private static let highProfiles: Set = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]

    let id: Int
    let chromaFormat: Int
    let hasSeparatePlanes: Bool
    let frameNumberWidth: Int
    let pictureOrderType: Int
    let pictureOrderWidth: Int
    let isPictureOrderDeltaAlwaysZero: Bool
    let referenceFrames: Int
    let isFramesOnly: Bool

    init(_ unit: [UInt8]) throws(SyntaxReader.Malformed) {
        var reader = SyntaxReader(unit)
        _ = try reader.u(8)
        let profile = try reader.u(8)
        _ = try reader.u(16)
        id = try reader.ue()
        if Self.highProfiles.contains(profile) {
            chromaFormat = try reader.ue()
            hasSeparatePlanes = chromaFormat == 3 ? try reader.flag() : false
            try reader.skipUE(2)
            _ = try reader.flag()
            if try reader.flag() { try Self.skipScalingLists(&reader, count: chromaFormat == 3 ? 12 : 8) }
        } else {
            (chromaFormat, hasSeparatePlanes) = (1, false)
        }
        frameNumberWidth = try reader.ue() + 4
        pictureOrderType = try reader.ue()
        pictureOrderWidth = pictureOrderType == 0 ? try reader.ue() + 4 : 0
        if pictureOrderType == 1 {
            isPictureOrderDeltaAlwaysZero = try reader.flag()
            try reader.skipSE(2)
            try reader.skipSE(reader.ue())
        } else {
            isPictureOrderDeltaAlwaysZero = true
        }
        referenceFrames = try reader.ue()
        // gaps_in_frame_num_value_allowed_flag
        _ = try reader.flag()
        try reader.skipUE(2)
        isFramesOnly = try reader.flag()
    }

    private static func skipScalingLists(_ reader: inout SyntaxReader, count: Int) throws(SyntaxReader.Malformed) {
        for list in 0..<count {
            guard try reader.flag() else { continue }
            var (last, next) = (8, 8)
            for _ in 0..<(list < 6 ? 16 : 64) {
                if next != 0 {
                    let delta = try reader.se()
                    next = (last + delta + 256) % 256
                }
                if next != 0 { last = next }
            }
        }
    }
}

/// `pic_parameter_set_rbsp( )` of ITU-T H.264 7.3.2.2.
struct H264Picture: Equatable {
    let id: Int
    let sequenceID: Int
    let hasFieldOrder: Bool
    let hasSliceGroups: Bool
    let activeReferences: Int
    let isWeighted: Bool
    let hasRedundantPictures: Bool

    init(_ unit: [UInt8]) throws(SyntaxReader.Malformed) {
        var reader = SyntaxReader(unit)
        _ = try reader.u(8)
        id = try reader.ue()
        sequenceID = try reader.ue()
        _ = try reader.flag()
        hasFieldOrder = try reader.flag()
        hasSliceGroups = try reader.ue() > 0
        guard !hasSliceGroups else {
            (activeReferences, isWeighted, hasRedundantPictures) = (1, false, false)
            return
        }
        activeReferences = try reader.ue() + 1
        _ = try reader.ue()
        isWeighted = try reader.flag()
        _ = try reader.u(2)
        try reader.skipSE(3)
        _ = try reader.u(2)
        hasRedundantPictures = try reader.flag()
    }
}

/// `slice_header( )` of ITU-T H.264 7.3.3, up to the marking of reference pictures.
struct H264Slice: Equatable {
    let isIDR: Bool
    let isReference: Bool
    let firstMacroblock: Int
    /// `slice_type` modulo 5: 0 for P, 2 for I.
    let kind: Int
    let pictureID: Int
    let frameNumber: Int
    /// `idr_pic_id`
    let keyframeID: Int?
    let pictureOrder: Int
    /// How many pictures of list 0 may be referred to; 0 in I slices.
    let activeReferences: Int
    /// Legal syntax that no encoder here should use, for people.
    let unexpected: String?

    var isPredicted: Bool { kind != 2 }

    /// Whether two slices may belong to one picture (7.4.1.2.4).
    func isOfPicture(of other: H264Slice) -> Bool {
        (isIDR, isReference, frameNumber, keyframeID, pictureOrder)
            == (other.isIDR, other.isReference, other.frameNumber, other.keyframeID, other.pictureOrder)
    }

    /// The id of the picture parameter set that a slice names.
    static func pictureID(_ unit: [UInt8]) throws(SyntaxReader.Malformed) -> Int {
        var reader = SyntaxReader(unit)
        _ = try reader.u(8)
        try reader.skipUE(2)
        return try reader.ue()
    }

    init(_ unit: [UInt8], _ picture: H264Picture, _ sequence: H264Sequence) throws(SyntaxReader.Malformed) {
        var reader = SyntaxReader(unit)
        let header = try reader.u(8)
        isIDR = header & 0x1F == 5
        isReference = header >> 5 & 3 != 0
        firstMacroblock = try reader.ue()
        kind = try reader.ue() % 5
        pictureID = try reader.ue()
        if sequence.hasSeparatePlanes { _ = try reader.u(2) }
        frameNumber = try reader.u(sequence.frameNumberWidth)
        let isField = sequence.isFramesOnly ? false : try reader.flag()
        keyframeID = isIDR ? try reader.ue() : nil
        pictureOrder = try reader.u(sequence.pictureOrderWidth)
        let hidden = Self.obstacle(picture, sequence, isField: isField, kind: kind)
        guard hidden == nil else {
            (activeReferences, unexpected) = (0, hidden)
            return
        }
        if sequence.pictureOrderType == 0, picture.hasFieldOrder { _ = try reader.se() }
        guard kind != 2 else {
            activeReferences = 0
            unexpected = try Self.marking(&reader, isIDR: isIDR, isReference: isReference)
            return
        }
        var active = picture.activeReferences
        // num_ref_idx_active_override_flag
        if try reader.flag() { active = try reader.ue() + 1 }
        activeReferences = active
        let modification = try Self.modification(&reader)
        if picture.isWeighted {
            try Self.skipWeights(&reader, count: active, hasChroma: sequence.chromaFormat != 0)
        }
        let marking = try Self.marking(&reader, isIDR: isIDR, isReference: isReference)
        unexpected = modification ?? marking
    }

    /// Why the rest of a header cannot be read here.
    private static func obstacle(
        _ picture: H264Picture,
        _ sequence: H264Sequence,
        isField: Bool,
        kind: Int
    ) -> String? {
        if isField { return "fields" }
        if picture.hasSliceGroups { return "slice groups" }
        if picture.hasRedundantPictures { return "redundant pictures" }
        if sequence.pictureOrderType == 1 { return "picture order type 1" }
        return kind == 0 || kind == 2 ? nil : "slices that are neither P nor I"
    }

    /// `ref_pic_list_modification( )` of 7.3.3.1: all but the picture before in the first place is unexpected.
    private static func modification(_ reader: inout SyntaxReader) throws(SyntaxReader.Malformed) -> String? {
        guard try reader.flag() else { return nil }
        var operations: [[Int]] = []
        while case let operation = try reader.ue(), operation != 3 { operations.append([operation, try reader.ue()]) }
        return operations == [[0, 0]] ? nil : "modified reference lists"
    }

    /// `pred_weight_table( )` of 7.3.3.2.
    private static func skipWeights(
        _ reader: inout SyntaxReader,
        count: Int,
        hasChroma: Bool
    ) throws(SyntaxReader.Malformed) {
        try reader.skipUE(hasChroma ? 2 : 1)
        for _ in 0..<count {
            if try reader.flag() { try reader.skipSE(2) }
            if hasChroma, try reader.flag() { try reader.skipSE(4) }
        }
    }

    /// `dec_ref_pic_marking( )` of 7.3.3.3.
    private static func marking(
        _ reader: inout SyntaxReader,
        isIDR: Bool,
        isReference: Bool
    ) throws(SyntaxReader.Malformed) -> String? {
        guard isReference else { return nil }
        if isIDR {
            _ = try reader.flag()
            return try reader.flag() ? "long-term references" : nil
        }
        return try reader.flag() ? "memory management operations" : nil
    }
}
