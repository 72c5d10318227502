/// A reader of the syntax elements of one NAL unit, as in ITU-T H.264 7.2 and H.265 7.2.
///
/// It shares no code with the product's readers, so that their faults cannot hide here.
struct SyntaxReader {
    /// The unit is too short, or a number too long.
    struct Malformed: Error {}

    /// Parameter sets and slice headers are shorter than this.
    private static let longestHeader = 1024

    private var bytes: [UInt8] = []
    private var bit = 0

    /// - Parameter unit: A NAL unit without its start code.
    init(_ unit: some Sequence<UInt8>) {
        var zeros = 0
        for byte in unit.prefix(Self.longestHeader) {
            // emulation_prevention_three_byte
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            bytes.append(byte)
        }
    }

    mutating func u(_ width: Int) throws(Malformed) -> Int {
        guard bit + width <= bytes.count * 8 else { throw Malformed() }
        var value = 0
        for _ in 0..<width {
            value = value << 1 | Int(bytes[bit / 8] >> (7 - bit % 8) & 1)
            bit += 1
        }
        return value
    }

    mutating func flag() throws(Malformed) -> Bool { try u(1) == 1 }

    mutating func ue() throws(Malformed) -> Int {
        var zeros = 0
        while try u(1) == 0 { zeros += 1 }
        guard zeros < 32 else { throw Malformed() }
        return try (1 << zeros) - 1 + u(zeros)
    }

    mutating func se() throws(Malformed) -> Int {
        let number = try ue()
        return number % 2 == 1 ? (number + 1) / 2 : -number / 2
    }

    /// Skips elements of type ue(v).
    mutating func skipUE(_ count: Int) throws(Malformed) { for _ in 0..<count { _ = try ue() } }

    /// Skips elements of type se(v).
    mutating func skipSE(_ count: Int) throws(Malformed) { for _ in 0..<count { _ = try se() } }
}
