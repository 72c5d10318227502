/// Takes an input apart: what the target decides by, and what it feeds to the code.
struct Choices {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    var isEmpty: Bool { bytes.isEmpty }

    /// 0 where nothing is left.
    mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    /// Big-endian.
    mutating func short() -> Int { Int(byte()) << 8 | Int(byte()) }

    /// A number at an end of its type, near `centre`, or any.
    mutating func number<Number: FixedWidthInteger>(near centre: Number = 0) -> Number {
        switch byte() & 7 {
        case 0: .min
        case 1: .max
        case 2: centre
        case 3: centre &+ Number(truncatingIfNeeded: short())
        case 4: centre &- Number(truncatingIfNeeded: short())
        case 5: centre &+ Number(truncatingIfNeeded: short() * 1_000_000)
        case 6: centre &- Number(truncatingIfNeeded: short() * 1_000_000)
        default: (0..<8).reduce(0) { number, _ in number << 8 | Number(truncatingIfNeeded: byte()) }
        }
    }

    /// As many bytes as the next two say and are there.
    mutating func piece() -> [UInt8] {
        let count = min(short(), bytes.count)
        defer { bytes = bytes.dropFirst(count) }
        return Array(bytes.prefix(count))
    }

    /// All that is left.
    mutating func rest() -> [UInt8] {
        defer { bytes = [] }
        return Array(bytes)
    }
}

/// The ways in which a stream of bytes arrives.
enum Arrival {
    /// `bytes` in pieces of 1 to 64 bytes, by `seed`.
    static func pieces(of bytes: [UInt8], seed: UInt8) -> [ArraySlice<UInt8>] {
        var (pieces, place, step) = ([ArraySlice<UInt8>](), 0, Int(seed))
        while place < bytes.count {
            step = (step * 37 + 11) & 63
            let end = min(place + step + 1, bytes.count)
            pieces.append(bytes[place..<end])
            place = end
        }
        return pieces
    }
}
