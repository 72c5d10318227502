/// Why a parameter set or a slice header cannot be read.
package enum BitstreamError: Error, Equatable, Sendable {
    /// The unit ends inside a syntax element.
    case endOfUnit
    /// A syntax element has a value that the standard rules out; its name in the standard.
    case outOfRange(String)
}

/// Reads the syntax elements of one NAL unit, passing over its emulation prevention bytes (H.264 7.3.1, H.265 7.3.1.1).
///
/// Any bytes may be given: what cannot be read is an error, never a trap.
package struct BitReader {
    private let unit: ArraySlice<UInt8>
    private var next: Int
    private var zeros = 0
    private var byte: UInt8 = 0
    private var bitsLeft = 0
    /// Bits read so far, the NAL unit header's included and emulation prevention bytes left out.
    package private(set) var position = 0

    /// - Parameter unit: A NAL unit from its header on, without the start code.
    package init(_ unit: ArraySlice<UInt8>) {
        self.unit = unit
        next = unit.startIndex
    }

    /// `u(n)`: an unsigned number of `count` bits, 0 to 32.
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

    /// `u(1)` as a truth value.
    package mutating func flag() throws(BitstreamError) -> Bool {
        try u(1) == 1
    }

    /// `u(8)` as a byte.
    package mutating func u8() throws(BitstreamError) -> UInt8 {
        UInt8(truncatingIfNeeded: try u(8))
    }

    package mutating func skip(_ count: Int) throws(BitstreamError) {
        for start in stride(from: 0, to: count, by: 32) { _ = try u(min(32, count - start)) }
    }

    /// `ue(v)`: an unsigned Exp-Golomb code, 0 to 2^32 − 2 (H.264 9.1, H.265 9.2).
    package mutating func ue() throws(BitstreamError) -> Int {
        var leadingZeros = 0
        while try !flag() {
            leadingZeros += 1
            guard leadingZeros < 32 else { throw .outOfRange("ue(v)") }
        }
        return try 1 << leadingZeros - 1 + u(leadingZeros)
    }

    /// `ue(v)` that the standard bounds: an error outside `range`, named after the syntax element.
    package mutating func ue(_ name: String, in range: ClosedRange<Int>) throws(BitstreamError) -> Int {
        let value = try ue()
        guard range.contains(value) else { throw .outOfRange(name) }
        return value
    }

    /// `se(v)`: a signed Exp-Golomb code, 1 − 2^31 to 2^31 (H.264 9.1.1, H.265 9.2.2 allow one less above).
    package mutating func se() throws(BitstreamError) -> Int {
        let code = try ue()
        return code & 1 == 1 ? (code + 1) / 2 : -(code / 2)
    }

    /// Passes over `count` codes, each `ue(v)` or `se(v)`: the two are read alike.
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
