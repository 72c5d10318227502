/// The reason why a parameter set or a slice header cannot be read.
package enum BitstreamError: Error, Equatable, Sendable {
    /// The unit ends inside a syntax element.
    case endOfUnit
    /// The syntax element with that name in the standard has a value that the standard forbids.
    case outOfRange(String)
}

/// A reader of one NAL unit's syntax elements that skips emulation prevention bytes (H.264 7.3.1, H.265 7.3.1.1).
///
/// Any bytes are safe: unreadable ones cause an error, never a trap.
package struct BitReader {
    private let unit: ArraySlice<UInt8>
    private var next: Int
    private var zeros = 0
    private var byte: UInt8 = 0
    private var bitsLeft = 0
    /// The number of bits read so far, including the NAL unit header but not emulation prevention bytes.
    package private(set) var position = 0

    /// - Parameter unit: A NAL unit, starting at its header, without the start code.
    package init(_ unit: ArraySlice<UInt8>) {
        self.unit = unit
        next = unit.startIndex
    }

    /// Reads `u(n)`: an unsigned number of `count` bits, 0 to 32.
    package mutating func u(_ count: Int) throws(BitstreamError) -> Int {
        var value = 0
        var missing = count
        while missing > 0 {
            if bitsLeft == 0 { try loadByte() }
            let taken = min(missing, bitsLeft)
            bitsLeft -= taken
            value = value << taken | Int(byte >> bitsLeft) & (1 << taken - 1)
            missing -= taken
        }
        position += count
        return value
    }

    /// Reads `u(1)` as a truth value.
    package mutating func flag() throws(BitstreamError) -> Bool {
        try u(1) == 1
    }

    /// Reads `u(8)` as a byte.
    package mutating func u8() throws(BitstreamError) -> UInt8 {
        UInt8(truncatingIfNeeded: try u(8))
    }

    package mutating func skip(_ count: Int) throws(BitstreamError) {
        for start in stride(from: 0, to: count, by: 32) { _ = try u(min(32, count - start)) }
    }

    /// Reads `ue(v)`: an unsigned Exp-Golomb code, 0 to 2^32 − 2 (H.264 9.1, H.265 9.2).
    package mutating func ue() throws(BitstreamError) -> Int {
        var leadingZeros = 0
        while try !flag() {
            leadingZeros += 1
            guard leadingZeros < 32 else { throw .outOfRange("ue(v)") }
        }
        return try 1 << leadingZeros - 1 + u(leadingZeros)
    }

    /// Reads a `ue(v)` that the standard bounds. Throws an error with the syntax element's name if it is outside
    /// `range`.
    package mutating func ue(_ name: String, in range: ClosedRange<Int>) throws(BitstreamError) -> Int {
        let value = try ue()
        guard range.contains(value) else { throw .outOfRange(name) }
        return value
    }

    /// Reads `se(v)`: a signed Exp-Golomb code, 1 − 2^31 to 2^31 (H.264 9.1.1 and H.265 9.2.2 end one lower).
    package mutating func se() throws(BitstreamError) -> Int {
        let code = try ue()
        return code & 1 == 1 ? (code + 1) / 2 : -(code / 2)
    }

    /// Skips `count` codes, each `ue(v)` or `se(v)`, which have the same form.
    package mutating func skipCodes(_ count: Int = 1) throws(BitstreamError) {
        for _ in stride(from: 0, to: count, by: 1) { _ = try ue() }
    }

    private mutating func loadByte() throws(BitstreamError) {
        if zeros >= 2, next < unit.endIndex, unit[next] == 3 {
            next += 1
            zeros = 0
        }
        guard next < unit.endIndex else { throw .endOfUnit }
        byte = unit[next]
        zeros = byte == 0 ? zeros + 1 : 0
        next += 1
        bitsLeft = 8
    }
}
