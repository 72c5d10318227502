import Media

/// The checksum of MPEG's program tables (ISO/IEC 13818-1, annex A) and of Ogg's pages (RFC 3533, section 6): the
/// polynomial 0x04C11DB7, bits not reflected.
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { (index: UInt32) in
        (0..<8).reduce(index << 24) { crc, _ in
            crc & 0x8000_0000 != 0 ? crc << 1 ^ 0x04C1_1DB7 : crc << 1
        }
    }

    /// - Parameter initial: The register's value before the first byte.
    static func checksum(_ bytes: some Sequence<UInt8>, initial: UInt32) -> UInt32 {
        bytes.reduce(initial) { $0 << 8 ^ (table[at: Int(clamping: $0 >> 24 ^ UInt32(clamping: $1))] ?? 0) }
    }
}
