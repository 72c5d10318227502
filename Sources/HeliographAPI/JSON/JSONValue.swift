/// One JSON value. Objects keep the order of their members, so that answers have the order of the source code.
package enum JSONValue: Sendable, Equatable {
    /// A member of an object.
    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: JSONValue

        package init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// The value's type, for error messages.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// The first member with this name; `nil` if it is not an object or has none.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByNilLiteral
{
    package init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .object(members.map { Member(name: $0.0, value: $0.1) })
    }

    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(nilLiteral: ()) { self = .null }
}

extension JSONValue {
    package init(_ value: String?) { self = value.map { .string($0) } ?? .null }
    package init(_ value: Bool) { self = .bool(value) }
    package init(_ values: [JSONValue]?) { self = values.map { .array($0) } ?? .null }
    package init(_ value: Double?) { self = value.map { .number($0) } ?? .null }

    /// Creates a number, or `null`. Counters beyond 2^63 saturate.
    package init(_ value: (some BinaryInteger)?) { self = value.map { .integer(Int(clamping: $0)) } ?? .null }
}
