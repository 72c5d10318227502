/// Video usability information, `vui_parameters( )` of H.265 E.2.1: the fields that repeats and containers need.
struct H265VideoUsability {
    let signal: VideoSignal
    /// `field_seq_flag`.
    let isFieldSequence: Bool
    /// Whether HRD parameters, picture timing messages or a clock of picture order counts are announced.
    let timesPictures: Bool
    /// Whether the reader is before HRD parameters, where reading stopped.
    let hasHRD: Bool

    init(_ reader: inout BitReader) throws(BitstreamError) {
        signal = try VideoSignal(&reader)
        // neutral_chroma_indication_flag
        try reader.skip(1)
        isFieldSequence = try reader.flag()
        let hasPictureTiming = try reader.flag()
        if try reader.flag() { try reader.skipCodes(4) }
        var (isProportional, hasHRD) = (false, false)
        if try reader.flag() {
            try reader.skip(64)
            isProportional = try reader.flag()
            if isProportional { try reader.skipCodes() }
            hasHRD = try reader.flag()
        }
        self.hasHRD = hasHRD
        timesPictures = hasPictureTiming || isProportional || hasHRD
        guard !hasHRD, try reader.flag() else { return }
        try reader.skip(3)
        try reader.skipCodes(5)
    }
}
