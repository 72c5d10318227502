/// The way to make an access unit.
enum UnitRecipe: Sendable {
    /// The keyframe of one of the real groups of pictures.
    case key(group: Int)
    /// The picture after the last one; a keyframe if there is none.
    case next
    /// A picture that fills a single transport packet.
    case tiny
    /// A picture with this many bytes.
    case fat(Int, isKey: Bool)
    case spoiled(Spoil, seed: UInt64)
}

/// What is wrong or odd about an access unit.
enum Spoil: CaseIterable, Sendable {
    /// No start code anywhere.
    case noStartCode
    /// Something before the first start code.
    case leadingBytes
    /// A start code with nothing after it.
    case noHeader
    case zeros
    case oneByte
    /// `forbidden_zero_bit` is set.
    case forbiddenBit
    case reservedType
    /// Flagged as a keyframe, but without parameter sets.
    case keyWithoutSets
    /// Flagged as a keyframe, but not a keyframe.
    case falseKey
    /// A keyframe without the flag.
    case hiddenKey
    /// Parameter sets without a picture.
    case setsOnly
    /// Truncated parameter sets before a picture.
    case cutSets
    /// A sequence parameter set of random bits.
    case wildSets
    /// Adjacent start codes.
    case emptyUnits
    /// Thousands of slices.
    case manyUnits
    /// Thousands of parameter sets that are not contiguous.
    case manySets
    case otherCodec
    case mutated
    /// The start of one.
    case cut
    /// With a delimiter in front.
    case delimiterFirst
    case delimiterOnly
    /// Many zeros before the start code and after the last NAL unit.
    case padded
}
