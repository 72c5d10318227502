/// A writer of the syntax elements of one NAL unit's payload.
package struct BitWriter {
    /// The complete bytes so far, without emulation prevention.
    package private(set) var bytes: [UInt8] = []
    /// Its low `pendingCount` bits (fewer than 8) follow the complete bytes.
    private var pending: UInt64 = 0
    private var pendingCount = 0

    package init() {}

    /// Writes `u(n)`: the low `count` bits of `value`, 0 to 56.
    package mutating func u(_ count: Int, _ value: Int) {
        precondition(0...56 ~= count)
        pending = pending << UInt64(count) | UInt64(truncatingIfNeeded: value) & (1 << UInt64(count) - 1)
        pendingCount += count
        while pendingCount >= 8 {
            pendingCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: pending >> UInt64(pendingCount)))
        }
    }

    /// Writes `u(1)`.
    package mutating func flag(_ value: Bool) {
        u(1, value ? 1 : 0)
    }

    /// Writes `ue(v)` for a value from 0 to 2^32 − 2.
    package mutating func ue(_ value: Int) {
        let width = Int.bitWidth - (value + 1).leadingZeroBitCount
        u(width - 1, 0)
        u(width, value + 1)
    }

    /// Writes `se(v)`.
    package mutating func se(_ value: Int) {
        ue(value > 0 ? 2 * value - 1 : -2 * value)
    }

    /// Writes `rbsp_trailing_bits( )`: a one, then zeros up to a whole byte. In H.265, `byte_alignment( )` has the same
    /// form.
    package mutating func trailingBits() {
        flag(true)
        align()
    }

    /// Writes zeros up to a whole byte.
    package mutating func align() {
        if pendingCount > 0 { u(8 - pendingCount, 0) }
    }

    /// Appends whole bytes. The writer must be at a byte boundary.
    package mutating func append(_ more: [UInt8]) {
        precondition(pendingCount == 0)
        bytes += more
    }

    /// Returns the payload as a NAL unit of the byte stream, with a start code of four bytes and emulation prevention.
    package func annexBUnit() -> [UInt8] { EmulationPrevention.escaped(bytes, behind: [0, 0, 0, 1]) }
}
