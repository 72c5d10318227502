import Media

extension [UInt8] {
    /// Appends the integer's bytes, highest first.
    mutating func append(bigEndian integer: some FixedWidthInteger) {
        for shift in stride(from: integer.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: integer >> shift))
        }
    }

    /// Overwrites bytes from `place` on, as far as they exist.
    mutating func overwrite(at place: Int, bigEndian integer: some FixedWidthInteger) {
        for (offset, shift) in stride(from: integer.bitWidth - 8, through: 0, by: -8).enumerated() {
            self[at: place &+ offset] = UInt8(truncatingIfNeeded: integer >> shift)
        }
    }
}
