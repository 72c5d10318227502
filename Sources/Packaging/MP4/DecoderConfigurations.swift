import Media

/// `HEVCDecoderConfigurationRecord` (ISO/IEC 14496-15, 8.3.3.1), with lengths of four bytes.
enum HEVCConfiguration {
    /// - Parameter isComplete: Whether all parameter sets are here and none are in pictures.
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
            box.put(0xFC | UInt8(clamping: sequence.chromaFormat))
            box.put(0xF8 | UInt8(clamping: sequence.lumaDepth &- 8))
            box.put(0xF8 | UInt8(clamping: sequence.chromaDepth &- 8))
            box.put(UInt16(0))  // avgFrameRate: unspecified
            box.put(UInt8(clamping: sequence.subLayers) << 3 | (sequence.isTemporallyNested ? 4 : 0) | 3)
            box.put(UInt8(3))  // numOfArrays
            for (type, units) in [(32 as UInt8, sets.video), (33, sets.sequence), (34, sets.picture)] {
                box.put((isComplete ? 0x80 : 0) | type)
                box.put(UInt16(clamping: units.count))
                for unit in units {
                    box.put(UInt16(clamping: unit.count))
                    box.put(unit)
                }
            }
        }
        return writer
    }

    /// Reads the parameter sets of a record.
    static func parameterSets(_ record: ByteReader) -> [[UInt8]] {
        var (rest, sets) = (record, [[UInt8]]())
        guard rest.skip(22), let arrays = rest.u8() else { return [] }
        for _ in Range(from: 0, to: Int(clamping: arrays)) {
            guard rest.skip(1), let count = rest.u16(), let found = rest.parameterSets(Int(clamping: count)) else {
                return []
            }
            sets += found
        }
        return sets
    }
}

extension TrackDescription {
    /// The parameter sets of the sample entry, in the order in which a keyframe has them; empty for sound, and if they
    /// cannot be read.
    var parameterSets: [[UInt8]] {
        readConfiguration { type, record in
            switch (type, record) {
            case ("avc1", let record?), ("avc3", let record?): AVCConfiguration.parameterSets(record)
            case ("hvc1", let record?), ("hev1", let record?): HEVCConfiguration.parameterSets(record)
            default: []
            }
        }
    }
}

extension ByteReader {
    /// Reads parameter sets, each after its size in 16 bits; `nil` if one is not whole.
    fileprivate mutating func parameterSets(_ count: Int) -> [[UInt8]]? {
        var sets: [[UInt8]] = []
        for _ in Range(from: 0, to: count) {
            guard let size = u16(), let set = take(Int(clamping: size)) else { return nil }
            sets.append(set.bytes)
        }
        return sets
    }
}

/// `AVCDecoderConfigurationRecord` (ISO/IEC 14496-15, 5.3.3.1), with lengths of four bytes.
enum AVCConfiguration {
    static func box(_ sequence: H264SequenceParameterSet, _ sets: ParameterSetList) -> BoxWriter {
        var writer = BoxWriter()
        writer.box("avcC") { box in
            box.put([1, sequence.profile, sequence.constraints, sequence.level])
            box.put((0xFC | 3) as UInt8)  // lengthSizeMinusOne
            box.put(0xE0 | UInt8(clamping: sets.sequence.count))
            for set in sets.sequence { put(set, to: &box) }
            box.put(UInt8(clamping: sets.picture.count))
            for set in sets.picture { put(set, to: &box) }
            guard sequence.signalsChroma else { return }
            box.put(0xFC | UInt8(clamping: sequence.chromaFormat))
            box.put(0xF8 | UInt8(clamping: sequence.lumaDepth &- 8))
            box.put(0xF8 | UInt8(clamping: sequence.chromaDepth &- 8))
            box.put(UInt8(0))  // numOfSequenceParameterSetExt
        }
        return writer
    }

    /// Reads the parameter sets of a record.
    static func parameterSets(_ record: ByteReader) -> [[UInt8]] {
        var (rest, sets) = (record, [[UInt8]]())
        guard rest.skip(5) else { return [] }
        for mask in [0x1F, 0xFF] as [UInt8] {
            guard let count = rest.u8(), let found = rest.parameterSets(Int(clamping: count & mask)) else { return [] }
            sets += found
        }
        return sets
    }

    private static func put(_ set: [UInt8], to box: inout BoxWriter) {
        box.put(UInt16(clamping: set.count))
        box.put(set)
    }
}
