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
}
