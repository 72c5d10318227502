/// The general part of `profile_tier_level( 1, maxNumSubLayersMinus1 )`, H.265 7.3.3.
package struct H265ProfileTierLevel: Sendable, Hashable {
    /// `general_profile_space`, 0 to 3.
    package let space: UInt8
    /// `general_tier_flag`.
    package let isHighTier: Bool
    /// `general_profile_idc`, 0 to 31.
    package let profile: UInt8
    /// `general_profile_compatibility_flag`; flag number 0 is the highest bit.
    package let compatibility: UInt32
    /// The 48 bits from `general_progressive_source_flag` up to `general_level_idc`; the first bit is the highest.
    package let constraints: UInt64
    /// `general_level_idc`: 30 times the level.
    package let level: UInt8

    /// Reads the structure in a sequence parameter set and nothing after it.
    ///
    /// - Parameter unit: The NAL unit, starting at its header.
    package init(sequenceParameterSet unit: ArraySlice<UInt8>) throws(BitstreamError) {
        var reader = BitReader(unit)
        // The unit's header, sps_video_parameter_set_id, sps_max_sub_layers_minus1 and sps_temporal_id_nesting_flag.
        try reader.skip(16 + 4 + 3 + 1)
        try self.init(&reader, subLayers: 1)
    }

    /// - Parameter reader: Afterwards it is after the whole structure, including sub-layers.
    init(_ reader: inout BitReader, subLayers: Int) throws(BitstreamError) {
        space = UInt8(truncatingIfNeeded: try reader.u(2))
        isHighTier = try reader.flag()
        profile = UInt8(truncatingIfNeeded: try reader.u(5))
        compatibility = UInt32(truncatingIfNeeded: try reader.u(32))
        constraints = UInt64(truncatingIfNeeded: try reader.u(32) << 16 | reader.u(16))
        level = try reader.u8()
        guard subLayers > 1 else { return }
        var present: [(profile: Bool, level: Bool)] = []
        for _ in stride(from: 1, to: subLayers, by: 1) { present.append((try reader.flag(), try reader.flag())) }
        // reserved_zero_2bits for the missing ones of eight sub-layers.
        try reader.skip(2 &* (9 &- subLayers))
        for (profile, level) in present { try reader.skip((profile ? 88 : 0) &+ (level ? 8 : 0)) }
    }
}
