import FoundationEssentials

/// Why a text is not JSON.
package struct JSONError: Error, CustomStringConvertible {
    package var description: String
}

extension JSONValue: Decodable {
    /// The deepest nesting of arrays and objects. The decoder's work grows with it.
    package static let maximumDepth = 32

    /// Parses one JSON text (RFC 8259).
    package init(parsing bytes: some Collection<UInt8>) throws(JSONError) {
        try Self.checkDepth(of: bytes)
        do {
            self = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
        } catch DecodingError.dataCorrupted(let context) {
            let cause = context.underlyingError.map { ": \($0)" } ?? ""
            throw JSONError(description: "\(context.debugDescription)\(cause)")
        } catch {
            throw JSONError(description: "\(error)")
        }
    }

    /// Checks only the brackets; the decoder finds all other errors.
    private static func checkDepth(of bytes: some Collection<UInt8>) throws(JSONError) {
        var depth = 0
        var isInString = false
        var isEscaped = false
        for byte in bytes {
            // UTF-8 text contains no zero byte. Other encodings could hide brackets.
            guard byte != 0 else { throw JSONError(description: "it is not UTF-8") }
            if isEscaped {
                isEscaped = false
            } else if isInString {
                if byte == UInt8(ascii: "\\") { isEscaped = true }
                if byte == UInt8(ascii: "\"") { isInString = false }
            } else {
                switch byte {
                case UInt8(ascii: "\""): isInString = true
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth &+= 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"): depth &-= 1
                default: break
                }
                guard depth <= maximumDepth else {
                    throw JSONError(description: "more than \(maximumDepth) arrays and objects are inside one another")
                }
            }
        }
    }

    package init(from decoder: any Decoder) throws {
        if let members = try? decoder.container(keyedBy: Name.self) {
            // The decoder keeps no order, so members are sorted by name to make the result deterministic.
            let names = members.allKeys.sorted { $0.stringValue < $1.stringValue }
            self = .object(
                try names.map {
                    Member(name: $0.stringValue, value: try members.decode(JSONValue.self, forKey: $0))
                }
            )
            return
        }
        if var elements = try? decoder.unkeyedContainer() {
            var values: [JSONValue] = []
            while !elements.isAtEnd { values.append(try elements.decode(JSONValue.self)) }
            self = .array(values)
            return
        }
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? value.decode(Int.self) {
            self = .integer(integer)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else {
            self = .string(try value.decode(String.self))
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
