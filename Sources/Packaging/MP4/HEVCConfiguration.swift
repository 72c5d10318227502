import Media

/// `HEVCDecoderConfigurationRecord` (ISO/IEC 14496-15, 8.3.3.1), with lengths of four bytes.
enum HEVCConfiguration {
    /// - Parameter isComplete: Whether no parameter set is in a picture.
    static func box(_ sequence: H265SequenceParameterSet, _ sets: ParameterSetList, isComplete: Bool) -> BoxWriter {
        let profile = sequence.profileTierLevel
        var writer = BoxWriter()
        writer.box("hvcC") { box in
            box.put(UInt8(1))
            box.put(profile.space << 6 | (profile.isHighTier ? 0x20 : 0) | profile.profile)
            box.put(profile.compatibility)
            box.put(UInt32(truncatingIfNeeded: profile.constraints >> 16))
            box.put(UInt16(truncatingIfNeeded: profile.constraints))
            box.put(profile.level)
            box.put(UInt16(0xF000))  // min_spatial_segmentation_idc 0: unknown
            box.put(UInt8(0xFC))  // parallelismType 0: unknown
            box.put(UInt8(0xFC | sequence.chromaFormat))
            box.put(UInt8(0xF8 | (sequence.lumaDepth - 8)))
            box.put(UInt8(0xF8 | (sequence.chromaDepth - 8)))
            box.put(UInt16(0))  // avgFrameRate: unspecified
            box.put(UInt8(sequence.subLayers << 3 | (sequence.isTemporallyNested ? 4 : 0) | 3))
            box.put(UInt8(3))  // numOfArrays
            for (type, units) in [(32, sets.video), (33, sets.sequence), (34, sets.picture)] {
                box.put(UInt8((isComplete ? 0x80 : 0) | type))
                box.put(UInt16(units.count))
                for unit in units {
                    box.put(UInt16(unit.count))
                    box.put(unit)
                }
            }
        }
        return writer
    }

    /// Profile, compatibility flags from the last to the first, tier and level, and the constraint bytes as far as they are not zero.
    static func codecSuffix(_ profile: H265ProfileTierLevel) -> String {
        let space = ["", "A", "B", "C"][Int(profile.space)]
        var parts = ["\(space)\(profile.profile)", hexadecimal(profile.compatibility.bitReversed)]
        parts.append("\(profile.isHighTier ? "H" : "L")\(profile.level)")
        var constraints = (0..<6).map { UInt8(truncatingIfNeeded: profile.constraints >> (40 - 8 * $0)) }
        while constraints.last == 0 { constraints.removeLast() }
        return (parts + constraints.map(hexadecimal)).joined(separator: ".")
    }

    private static func hexadecimal(_ number: some BinaryInteger) -> String {
        String(number, radix: 16, uppercase: true)
    }
}

extension UInt32 {
    fileprivate var bitReversed: UInt32 {
        (0..<32).reduce(0) { $0 << 1 | self >> $1 & 1 }
    }
}
