import Media

/// The clocks of a transport stream at a PTS of the session (ISO/IEC 13818-1, 2.4.2.2 and 2.4.3.7).
struct TransportTime {
    /// The program clock: `program_clock_reference_base` of 33 bits at 90 kHz, and the extension, 0 to 299, at 27 MHz.
    let (clockBase, clockExtension): (UInt64, UInt16)
    /// The presentation time: 33 bits at 90 kHz.
    let presentation: UInt64

    /// The time from the program clock at a picture to its presentation, at 90 kHz: 100 ms, and 200 ms beside AAC.
    ///
    /// By the program clock, a picture's bytes arrive until the next picture's clock. They arrive in time if pictures
    /// come at least every 100 ms, which is also how often the clock must be sent. AAC comes up to 104 ms after its
    /// time.
    static let (delay, longDelay): (UInt64, UInt64) = (9000, 18_000)
    /// The time after which both clocks repeat, in µs: nine turns of the 33 bits, which is a whole number of µs.
    private static let period: Int64 = (1 << 33) * 100
    private static let mask: UInt64 = 1 << 33 - 1

    /// - Parameters:
    ///   - pts: In µs. The clocks wrap around every 26.5 hours.
    ///   - delay: ``delay`` or ``longDelay``.
    init(pts: Int64, delay: UInt64) {
        let remainder = pts % Self.period
        let time = UInt64(clamping: remainder < 0 ? remainder + Self.period : remainder)
        clockBase = time * 27 / 300 & Self.mask
        clockExtension = UInt16(clamping: time * 27 % 300)
        presentation = ((time * 9 + 50) / 100 + delay) & Self.mask
    }

    /// Writes `program_clock_reference` with its reserved bits: six bytes.
    func appendClock(to bytes: inout ByteWriter) {
        bytes.put(bigEndian: UInt32(truncatingIfNeeded: clockBase >> 1))
        bytes.put(bigEndian: UInt16(truncatingIfNeeded: clockBase & 1) << 15 | 0x7E00 | clockExtension)
    }

    /// Writes `PTS` with its prefix and marker bits: five bytes.
    func appendPresentation(to bytes: inout ByteWriter) {
        bytes.put(0x21 | UInt8(truncatingIfNeeded: presentation >> 29 & 0x0E))
        bytes.put(bigEndian: UInt16(truncatingIfNeeded: presentation >> 14 & 0xFFFE) | 1)
        bytes.put(bigEndian: UInt16(truncatingIfNeeded: presentation << 1 & 0xFFFE) | 1)
    }
}
