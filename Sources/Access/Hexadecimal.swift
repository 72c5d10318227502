/// Hexadecimal text: two digits per byte.
package enum Hexadecimal {
    package static func text(of bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap { [digit(of: $0 >> 4), digit(of: $0 & 15)] }, as: UTF8.self)
    }

    /// Returns the bytes, or `nil` unless `text` consists of pairs of digits in either letter case.
    package static func bytes(in text: some StringProtocol) -> [UInt8]? {
        var (digits, bytes) = (text.utf8.makeIterator(), [UInt8]())
        while let first = digits.next() {
            guard let second = digits.next(), let high = value(of: first), let low = value(of: second) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// - Parameter value: 0 to 15.
    private static func digit(of value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") &+ value : UInt8(ascii: "a") &+ value &- 10
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit &- UInt8(ascii: "a") &+ 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit &- UInt8(ascii: "A") &+ 10
        default: nil
        }
    }
}
