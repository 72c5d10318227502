/// Writes the syntax elements of one NAL unit's payload.
package struct BitWriter {
    /// The whole bytes so far, without emulation prevention.
    package private(set) var bytes: [UInt8] = []
    private var pending: UInt8 = 0
    private var pendingCount = 0

    package init() {}

    /// `u(n)`: the low `count` bits of `value`.
    package mutating func u(_ count: Int, _ value: Int) {
        for place in stride(from: count - 1, through: 0, by: -1) {
            pending = pending << 1 | UInt8(truncatingIfNeeded: value >> place & 1)
            pendingCount += 1
            if pendingCount == 8 {
                bytes.append(pending)
                (pending, pendingCount) = (0, 0)
            }
        }
    }

    /// `u(1)`.
    package mutating func flag(_ value: Bool) {
        u(1, value ? 1 : 0)
    }

    /// `ue(v)`, of a value from 0 to 2^32 − 2.
    package mutating func ue(_ value: Int) {
        let width = Int.bitWidth - (value + 1).leadingZeroBitCount
        u(width - 1, 0)
        u(width, value + 1)
    }

    /// `se(v)`.
    package mutating func se(_ value: Int) {
        ue(value > 0 ? 2 * value - 1 : -2 * value)
    }

    /// `rbsp_trailing_bits( )`, which in H.265 is written like `byte_alignment( )` too: a one, then zeros up to a whole byte.
    package mutating func trailingBits() {
        flag(true)
        align()
    }

    /// Zeros up to a whole byte.
    package mutating func align() {
        while pendingCount > 0 { flag(false) }
    }

    /// The payload as a NAL unit of the byte stream: behind a start code of four bytes, emulation prevented.
    package func annexBUnit() -> [UInt8] {
        [0, 0, 0, 1] + EmulationPrevention.escaped(bytes)
    }
}
