/// The fields of the kernel's structures: integers in the machine's byte order, texts filled up with zeros.
extension [UInt8] {
    package mutating func append(host integer: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: integer) { append(contentsOf: $0) }
    }

    package mutating func append(_ text: String, byteCount: Int) {
        // The last byte stays zero.
        let bytes = text.utf8.prefix(byteCount - 1)
        append(contentsOf: bytes)
        append(contentsOf: repeatElement(0, count: byteCount - bytes.count))
    }

    /// Returns the integer at `offset`, or `nil` if the bytes end before.
    package func host<Integer: FixedWidthInteger>(at offset: Int) -> Integer? {
        let size = MemoryLayout<Integer>.size
        guard offset >= 0, offset + size <= count else { return nil }
        return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Integer.self) }
    }
}
