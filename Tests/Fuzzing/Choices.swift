/// Splits an input into the target's decisions and the data for the code.
struct Choices {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    var isEmpty: Bool { bytes.isEmpty }

    /// Returns 0 if nothing is left.
    mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    /// Reads a big-endian number.
    mutating func short() -> Int { Int(byte()) << 8 | Int(byte()) }

    /// Returns a number near an end of its type's range, near `centre`, or an arbitrary one.
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

    /// Returns as many bytes as the next two say, if they exist.
    mutating func piece() -> [UInt8] {
        let count = min(short(), bytes.count)
        defer { bytes = bytes.dropFirst(count) }
        return Array(bytes.prefix(count))
    }

    /// Everything that is left.
    mutating func rest() -> [UInt8] {
        defer { bytes = [] }
        return Array(bytes)
    }
}

/// The ways in which a stream of bytes can arrive.
enum Arrival {
    /// Splits `bytes` into pieces of 1 to 64 bytes, by `seed`.
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
