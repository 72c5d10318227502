extension String {
    /// The text with percent-encoding for all but the unreserved characters (RFC 3986, 2.1).
    package var percentEncoded: String {
        utf8.map { byte in
            if byte.isUnreserved { return String(UnicodeScalar(byte)) }
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.count < 2 ? "0" : "") + digits
        }.joined()
    }

    /// The text with `_` for all but the unreserved characters.
    package var withoutReserved: String {
        String(decoding: utf8.map { $0.isUnreserved ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
    }
}

extension UInt8 {
    /// Whether it is an unreserved character (RFC 3986, 2.3).
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
