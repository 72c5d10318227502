/// How an access unit is made.
enum UnitRecipe: Sendable {
    /// The keyframe of one of the real groups of pictures.
    case key(group: Int)
    /// The picture behind the last one; a keyframe where there is none.
    case next
    /// One that fills a single transport packet.
    case tiny
    /// One of so many bytes.
    case fat(Int, isKey: Bool)
    case spoiled(Spoil, seed: UInt64)
}

/// What is wrong with an access unit, or only odd.
enum Spoil: CaseIterable, Sendable {
    /// No start code anywhere.
    case noStartCode
    /// Something before the first start code.
    case leadingBytes
    /// A start code and nothing behind it.
    case noHeader
    case zeros
    case oneByte
    /// `forbidden_zero_bit` is set.
    case forbiddenBit
    case reservedType
    /// Flagged as a keyframe, and without parameter sets.
    case keyWithoutSets
    /// Flagged as a keyframe, and none.
    case falseKey
    /// A keyframe that is not flagged.
    case hiddenKey
    /// Parameter sets and no picture.
    case setsOnly
    /// Parameter sets that are cut off, before a picture.
    case cutSets
    /// A sequence parameter set of random bits.
    case wildSets
    /// Start codes next to one another.
    case emptyUnits
    /// Thousands of slices.
    case manyUnits
    /// Thousands of parameter sets that do not stand together.
    case manySets
    case otherCodec
    case mutated
    /// The beginning of one.
    case cut
    /// With a delimiter in front.
    case delimiterFirst
    case delimiterOnly
    /// Many zeros in front of the start code and behind the last NAL unit.
    case padded
}
