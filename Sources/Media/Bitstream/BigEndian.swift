extension [UInt8] {
    /// Appends the integer's bytes, highest first.
    @inlinable
    package mutating func append(bigEndian integer: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: integer.bigEndian) { append(contentsOf: $0) }
    }

    /// Overwrites bytes, starting at `place`. Bytes that do not exist are left out.
    package mutating func overwrite(at place: Int, bigEndian integer: some FixedWidthInteger) {
        for (offset, shift) in stride(from: integer.bitWidth &- 8, through: 0, by: -8).enumerated() {
            self[at: place &+ offset] = UInt8(truncatingIfNeeded: integer >> shift)
        }
    }
}
