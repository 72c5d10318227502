import FoundationEssentials

/// Why a text is not JSON.
package struct JSONError: Error, CustomStringConvertible {
    package var description: String
}

extension JSONValue: Decodable {
    /// Parses one JSON text (RFC 8259).
    package init(parsing bytes: some Collection<UInt8>) throws(JSONError) {
        do {
            self = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
        } catch DecodingError.dataCorrupted(let context) {
            let cause = context.underlyingError.map { ": \($0)" } ?? ""
            throw JSONError(description: context.debugDescription + cause)
        } catch {
            throw JSONError(description: "\(error)")
        }
    }

    package init(from decoder: any Decoder) throws {
        if let members = try? decoder.container(keyedBy: Name.self) {
            // The decoder keeps no order; by name, the same text always makes the same value.
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
