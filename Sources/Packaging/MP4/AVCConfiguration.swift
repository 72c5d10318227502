import Media

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

    private static func put(_ set: [UInt8], to box: inout BoxWriter) {
        box.put(UInt16(clamping: set.count))
        box.put(set)
    }
}
