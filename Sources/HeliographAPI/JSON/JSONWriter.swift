extension JSONValue {
    /// The value as JSON text in UTF-8, without white space.
    package var text: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text.append(value ? "true" : "false")
        case .integer(let value): text.append(String(value))
        case .number(let value): text.append(Self.text(of: value))
        case .string(let value): Self.write(value, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                Self.write(member.name, to: &text)
                text += ":"
                member.value.write(to: &text)
            }
            text += "}"
        }
    }

    /// Returns a number's text. Whole numbers have no fraction; JSON has no infinities.
    private static func text(of number: Double) -> String {
        guard number.isFinite else { return "null" }
        if let whole = Int(exactly: number) { return String(whole) }
        return number.description
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        // Nearly all strings need no escapes, and are written much faster as a whole.
        if string.utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            text += string
        } else {
            for scalar in string.unicodeScalars { write(scalar, to: &text) }
        }
        text += "\""
    }

    private static func write(_ scalar: Unicode.Scalar, to text: inout String) {
        switch scalar {
        case "\"": text += "\\\""
        case "\\": text += "\\\\"
        case "\n": text += "\\n"
        case "\r": text += "\\r"
        case "\t": text += "\\t"
        case ..<" ":
            // The hexadecimal number has one or two digits.
            text += "\\u00\(scalar.value < 16 ? "0" : "")\(String(scalar.value, radix: 16))"
        default: text.unicodeScalars.append(scalar)
        }
    }
}
