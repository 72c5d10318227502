/// A box with bytes of the recorder's own, which players skip (ISO/IEC 14496-12, 11.1).
enum MovieNote {
    /// The box's extended type, a random UUID.
    static let type: [UInt8] = [
        0x5C, 0x1E, 0x0A, 0x3B, 0x7F, 0x42, 0x4E, 0x9D, 0x9A, 0x51, 0x3D, 0x0B, 0x64, 0xC2, 0x18, 0xE7,
    ]

    static func write(_ note: [UInt8], to writer: inout BoxWriter) {
        writer.box("uuid") { box in
            box.put(type)
            box.put(note)
        }
    }

    static func bytes(_ note: [UInt8]) -> [UInt8] {
        var writer = BoxWriter(capacity: note.count + 24)
        write(note, to: &writer)
        return writer.bytes
    }
}
