import Media

/// A writer of boxes of the ISO base media file format (ISO/IEC 14496-12, 4.2).
struct BoxWriter {
    /// The bytes of a box before its content.
    static let headerSize = 8

    private(set) var bytes: [UInt8] = []

    init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// Writes a box with a 32-bit size. `type` must have four ASCII characters.
    mutating func box(_ type: StaticString, _ content: (inout BoxWriter) -> Void) {
        let start = bytes.count
        put(UInt32(0))
        type.withUTF8Buffer { bytes += $0 }
        content(&self)
        bytes.overwrite(at: start, bigEndian: UInt32(truncatingIfNeeded: bytes.count - start))
    }

    /// Writes a box with a version and 24 bits of flags.
    mutating func fullBox(
        _ type: StaticString,
        version: UInt8 = 0,
        flags: UInt32 = 0,
        _ content: (inout BoxWriter) -> Void
    ) {
        box(type) { box in
            box.put(UInt32(clamping: version) << 24 | flags)
            content(&box)
        }
    }

    /// Writes the integer's bytes, highest first.
    mutating func put(_ integer: some FixedWidthInteger) {
        bytes.append(bigEndian: integer)
    }

    mutating func put(_ content: some Sequence<UInt8>) {
        bytes += content
    }

    mutating func put(_ text: StaticString) {
        text.withUTF8Buffer { bytes += $0 }
    }

    mutating func zeros(_ count: Int) {
        bytes += repeatElement(0, count: max(0, count))
    }
}
