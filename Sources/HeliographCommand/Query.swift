import HeliographAPI

/// The query of a call.
enum Query {
    /// Returns the members of a JSON object as a query with its question mark; empty if there are none.
    static func text(_ object: some Collection<UInt8>) throws(JSONError) -> String {
        guard case .object(let members) = try JSONValue(parsing: object), !members.isEmpty else { return "" }
        return "?" + members.map { "\($0.name)=\(encoded(text(of: $0.value)))" }.joined(separator: "&")
    }

    private static func text(of value: JSONValue) -> String {
        if case .string(let string) = value { string } else { value.text }
    }

    /// Returns `text` with percent-encoding for the characters that an address cannot contain.
    static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                return String(UnicodeScalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                return "%" + (digits.count < 2 ? "0" : "") + digits
            }
        }.joined()
    }
}
