import HTTPTypes

/// Reads a request's arguments: each is taken once, and what is left over at the end is an error.
package struct RequestArguments {
    private var members: [JSONValue.Member]
    /// What stands before a field's name in errors, for nested objects.
    private let prefix: String

    /// - Parameter body: The request's body; empty bytes stand for `{}`.
    package init(body: [UInt8]) throws(Problem) {
        guard !body.isEmpty else {
            self.init(members: [], prefix: "")
            return
        }
        let value: JSONValue
        do {
            value = try JSONValue(parsing: body)
        } catch {
            throw Problem(.brokenJSON, "the body is not JSON: \(error)")
        }
        guard case .object(let members) = value else {
            throw Problem(.notAnObject, "the body is \(value.kind); an object is expected, such as {\"fps\": 30}")
        }
        self.init(members: members, prefix: "")
    }

    package init(members: [JSONValue.Member], prefix: String) {
        self.members = members
        self.prefix = prefix
    }

    /// Ends the reading.
    package func finish() throws(Problem) {
        guard let left = members.first else { return }
        let name = prefix + left.name
        throw Problem(.unknownField, "there is no field \(name) here", field: name)
    }

    /// A whole number in `range`, nil when absent.
    package mutating func integer(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let value = take(name) else { return nil }
        let integer: Int
        switch value {
        case .integer(let whole): integer = whole
        case .number(let number):
            guard number == number.rounded() else { throw wrongType(name, "a whole number", is: "\(number)") }
            integer = Int(exactly: number) ?? (number < 0 ? .min : .max)
        case .null, .bool, .string, .array, .object: throw wrongType(name, "a whole number", is: value.kind)
        }
        guard range.contains(integer) else {
            throw outOfRange(name, "\(range.lowerBound) to \(range.upperBound)", is: "\(integer)")
        }
        return integer
    }

    /// A number in `range`, nil when absent.
    package mutating func number(_ name: String, in range: ClosedRange<Double>) throws(Problem) -> Double? {
        guard let value = take(name) else { return nil }
        let number: Double
        switch value {
        case .integer(let whole): number = Double(whole)
        case .number(let fraction): number = fraction
        case .null, .bool, .string, .array, .object: throw wrongType(name, "a number", is: value.kind)
        }
        guard range.contains(number) else {
            throw outOfRange(name, "\(range.lowerBound) to \(range.upperBound)", is: "\(number)")
        }
        return number
    }

    /// A boolean, nil when absent.
    package mutating func bool(_ name: String) throws(Problem) -> Bool? {
        guard let value = take(name) else { return nil }
        guard case .bool(let bool) = value else { throw wrongType(name, "true or false", is: value.kind) }
        return bool
    }

    /// A string of at most `maximumLength` characters, nil when absent.
    package mutating func string(_ name: String, maximumLength: Int) throws(Problem) -> String? {
        guard let value = take(name) else { return nil }
        guard case .string(let string) = value else { throw wrongType(name, "a string", is: value.kind) }
        guard string.count <= maximumLength else {
            throw outOfRange(name, "at most \(maximumLength) characters", is: "\(string.count)")
        }
        return string
    }

    /// What `parse` makes of a word, nil when absent.
    package mutating func word<Value>(
        _ name: String,
        oneOf words: String,
        parse: (String) -> Value?
    ) throws(Problem) -> Value? {
        guard let string = try string(name, maximumLength: 100) else { return nil }
        guard let value = parse(string) else {
            throw Problem(.unknownValue, "\(prefix)\(name) is \(words), not \"\(string)\"", field: prefix + name)
        }
        return value
    }

    /// The arguments in an object, nil when absent.
    package mutating func object(_ name: String) throws(Problem) -> RequestArguments? {
        guard let value = take(name) else { return nil }
        guard case .object(let members) = value else { throw wrongType(name, "an object", is: value.kind) }
        return RequestArguments(members: members, prefix: "\(prefix)\(name).")
    }

    /// Unwraps a value that must be there.
    package func required<Value>(_ name: String, _ value: Value?) throws(Problem) -> Value {
        guard let value else { throw Problem(.missingField, "\(prefix)\(name) is missing", field: prefix + name) }
        return value
    }

    private mutating func take(_ name: String) -> JSONValue? {
        guard let index = members.firstIndex(where: { $0.name == name }) else { return nil }
        return members.remove(at: index).value
    }

    private func wrongType(_ name: String, _ expected: String, is actual: String) -> Problem {
        Problem(.wrongType, "\(prefix)\(name) is \(actual); \(expected) is expected", field: prefix + name)
    }

    private func outOfRange(_ name: String, _ expected: String, is actual: String) -> Problem {
        Problem(.outOfRange, "\(prefix)\(name) is \(actual); allowed: \(expected)", field: prefix + name)
    }
}
