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
