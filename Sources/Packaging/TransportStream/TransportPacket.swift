import Media

/// The header of transport packets (ISO/IEC 13818-1, 2.4.3).
enum TransportPacket {
    static let size = 188
    static let headerSize = 4
    static let bodySize = size - headerSize
    static let padding: UInt8 = 0xFF

    /// The parts that follow the header: `adaptation_field_control`.
    enum Content: UInt8 {
        case payload = 1
        case adaptation = 2
        case both = 3
    }

    /// - Parameter startsUnit: `payload_unit_start_indicator`.
    static func appendHeader(
        pid: UInt16,
        startsUnit: Bool,
        content: Content,
        continuity: UInt8,
        to bytes: inout ByteWriter
    ) {
        bytes.put(0x47)
        bytes.put(bigEndian: pid | (startsUnit ? 0x4000 : 0))
        bytes.put(content.rawValue << 4 | continuity)
    }
}

/// The checksum of program tables (ISO/IEC 13818-1, annex A): polynomial 0x04C11DB7, initial value all ones, bits not
/// reflected.
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { (index: UInt32) in
        (0..<8).reduce(index << 24) { crc, _ in
            crc & 0x8000_0000 != 0 ? crc << 1 ^ 0x04C1_1DB7 : crc << 1
        }
    }

    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(0xFFFF_FFFF) { $0 << 8 ^ (table[at: Int(clamping: $0 >> 24 ^ UInt32(clamping: $1))] ?? 0) }
    }
}
