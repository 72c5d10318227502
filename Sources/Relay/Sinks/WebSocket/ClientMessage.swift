import HeliographAPI

/// A text message from a WebSocket's client: one JSON object with a type.
package struct ClientMessage: Sendable {
    /// The message cannot be understood.
    package struct Malformed: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    let type: String
    /// The whole object.
    let value: JSONValue

    init(parsing text: String) throws(Malformed) {
        do {
            value = try JSONValue(parsing: text.utf8)
        } catch {
            throw Malformed(description: "not JSON")
        }
        guard case .string(let type) = value["type"] else { throw Malformed(description: "the type is missing") }
        self.type = type
    }
}

extension JSONValue {
    /// The value of a number; `nil` for other values.
    var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}
