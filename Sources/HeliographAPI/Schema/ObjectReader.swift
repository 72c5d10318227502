/// Reads the fields of an object strictly: each is taken once, what is left over in the end is an issue, and all issues are kept.
///
/// Request bodies, the configuration file and the relay's flags are read by it, so that a rule that is written once holds in all of
/// them. Its functions return nil for a field that is absent, and for one that is wrong after noting the issue.
package struct ObjectReader {
    private var members: [JSONValue.Member]
    private let path: [String]
    /// The names that were asked for.
    private var known: [String] = []
    private var issues: [FieldIssue] = []

    private init(members: [JSONValue.Member], path: [String]) {
        self.members = members
        self.path = path
    }

    /// What `read` makes of an object's members. It returns nil only after it has noted an issue.
    package static func read<Value>(
        _ members: [JSONValue.Member],
        _ read: (inout ObjectReader) -> Value?
    ) throws(FieldIssues) -> Value {
        var reader = ObjectReader(members: members, path: [])
        let value = read(&reader)
        guard reader.issues.isEmpty else { throw FieldIssues(all: reader.issues) }
        // A mistake of `read`, whose caller is told so instead of ending the relay.
        guard let value else {
            throw FieldIssues(all: [FieldIssue(kind: .missing, path: [], statement: "it is incomplete")])
        }
        return value
    }

    /// The names of the fields that have not been taken yet.
    package var names: [String] { members.map(\.name) }

    package func has(_ name: String) -> Bool { members.contains { $0.name == name } }

    package func isString(_ name: String) -> Bool {
        if case .string = members.first(where: { $0.name == name })?.value { true } else { false }
    }

    /// Notes those of `names` that are missing. To be called before they are taken.
    package mutating func require(_ names: String...) {
        for name in names where !has(name) { note(.missing, name, "is missing") }
    }

    /// Leaves the field `name` to another reader.
    package mutating func pass(_ name: String) {
        known.append(name)
        members.removeAll { $0.name == name }
    }

    /// Ends the reading: what is left over is unknown.
    package mutating func finish() {
        for name in names {
            let allowed = known.isEmpty ? "there are none" : "there is: \(known.joined(separator: ", "))"
            note(.unknown, name, "is no field here; \(allowed)")
        }
        members = []
    }

    /// Notes what is wrong with the field `name`: `statement` goes on where the name ends.
    package mutating func note(_ kind: FieldIssue.Kind, _ name: String, _ statement: String) {
        issues.append(FieldIssue(kind: kind, path: path + [name], statement: statement))
    }

    // MARK: Fields

    /// A whole number in `range`.
    package mutating func integer(_ name: String, in range: ClosedRange<Int>) -> Int? { integer(name, in: [range]) }

    /// A whole number in one of `ranges`.
    package mutating func integer(_ name: String, in ranges: [ClosedRange<Int>]) -> Int? {
        let integer: Int
        switch take(name) {
        case nil: return nil
        case .integer(let whole): integer = whole
        case .number(let number) where number == number.rounded():
            integer = Int(exactly: number) ?? (number < 0 ? .min : .max)
        case .number(let number): return wrongType(name, "a whole number", is: "\(number)")
        case let value?: return wrongType(name, "a whole number", is: value.kind)
        }
        guard ranges.contains(where: { $0.contains(integer) }) else {
            let allowed = ranges.map {
                $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)"
            }
            return outOfRange(name, allowed.joined(separator: ", "), is: "\(integer)")
        }
        return integer
    }

    /// A number in `range`.
    package mutating func number(_ name: String, in range: ClosedRange<Double>) -> Double? {
        let number: Double
        switch take(name) {
        case nil: return nil
        case .integer(let whole): number = Double(whole)
        case .number(let fraction): number = fraction
        case let value?: return wrongType(name, "a number", is: value.kind)
        }
        guard range.contains(number) else {
            return outOfRange(name, "\(range.lowerBound) to \(range.upperBound)", is: "\(number)")
        }
        return number
    }

    /// A boolean.
    package mutating func bool(_ name: String) -> Bool? {
        switch take(name) {
        case nil: return nil
        case .bool(let bool): return bool
        case let value?: return wrongType(name, "true or false", is: value.kind)
        }
    }

    /// A string whose number of characters, as Unicode's code points, is in `length`. NUL is none: it would end the string where C reads it.
    package mutating func string(_ name: String, length: ClosedRange<Int>) -> String? {
        switch take(name) {
        case nil: return nil
        case .string(let string):
            let count = string.unicodeScalars.count
            guard length.contains(count) else {
                let allowed =
                    length.lowerBound == 0
                    ? "at most \(length.upperBound) characters"
                    : "\(length.lowerBound) to \(length.upperBound) characters"
                return outOfRange(name, allowed, is: "\(count) characters long")
            }
            guard !string.utf8.contains(0) else {
                return outOfRange(name, "any other character", is: "with a NUL in it")
            }
            return string
        case let value?: return wrongType(name, "a string", is: value.kind)
        }
    }

    /// Strings, as many as `count` says, each with a number of characters in `length` and no NUL.
    package mutating func strings(_ name: String, count: ClosedRange<Int>, length lengths: ClosedRange<Int>)
        -> [String]?
    {
        let elements: [JSONValue]
        switch take(name) {
        case nil: return nil
        case .array(let array): elements = array
        case let value?: return wrongType(name, "an array of strings", is: value.kind)
        }
        guard count.contains(elements.count) else {
            return outOfRange(name, "\(count.lowerBound) to \(count.upperBound) strings", is: "\(elements.count) long")
        }
        var strings: [String] = []
        for element in elements {
            guard case .string(let string) = element else {
                return wrongType(name, "an array of strings", is: "with \(element.kind) in it")
            }
            let length = string.unicodeScalars.count
            guard lengths.contains(length), !string.utf8.contains(0) else {
                let allowed = "\(lengths.lowerBound) to \(lengths.upperBound) characters each, no NUL"
                return outOfRange(name, allowed, is: "with a string of \(length) characters in it")
            }
            strings.append(string)
        }
        return strings
    }

    /// What `parse` makes of a word, of which `words` says which there are.
    package mutating func word<Value>(
        _ name: String,
        oneOf words: String,
        parse: (String) -> Value?
    ) -> Value? {
        guard let string = string(name, length: 0...100) else { return nil }
        guard let value = parse(string) else {
            note(.unknownValue, name, "is \"\(string)\"; allowed: \(words)")
            return nil
        }
        return value
    }

    /// The same as ``word(_:oneOf:parse:)``, but a field that is right stays to be read again.
    mutating func peekWord<Value>(_ name: String, oneOf words: String, parse: (String) -> Value?) -> Value? {
        var reader = self
        let value = reader.word(name, oneOf: words, parse: parse)
        if value == nil { self = reader }
        return value
    }

    /// What `read` makes of the fields of an object.
    package mutating func object<Value>(_ name: String, _ read: (inout ObjectReader) -> Value?) -> Value? {
        switch take(name) {
        case nil: return nil
        case .object(let members):
            var reader = ObjectReader(members: members, path: path + [name])
            defer { issues.append(contentsOf: reader.issues) }
            return read(&reader)
        case let value?: return wrongType(name, "an object", is: value.kind)
        }
    }

    /// Takes the field `name` if it is null. For fields that null takes away; to all others it is of the wrong type.
    package mutating func takeNull(_ name: String) -> Bool {
        guard members.first(where: { $0.name == name })?.value == .null else { return false }
        known.append(name)
        removeFirst(name)
        return true
    }

    // MARK: Issues

    private mutating func take(_ name: String) -> JSONValue? {
        if !known.contains(name) { known.append(name) }
        defer { removeFirst(name) }
        return members.first { $0.name == name }?.value
    }

    /// Of a name that stands twice the second one stays, and is an issue in the end.
    private mutating func removeFirst(_ name: String) {
        if let place = members.firstIndex(where: { $0.name == name }) { members.remove(at: place) }
    }

    private mutating func wrongType<Value>(_ name: String, _ expected: String, is actual: String) -> Value? {
        note(.wrongType, name, "is \(actual); \(expected) is expected")
        return nil
    }

    private mutating func outOfRange<Value>(_ name: String, _ allowed: String, is actual: String) -> Value? {
        note(.outOfRange, name, "is \(actual); allowed: \(allowed)")
        return nil
    }
}

/// What is wrong with one field that someone wrote: in a request's body, in the configuration file, or as a flag.
package struct FieldIssue: Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable {
        case missing, unknown, wrongType, outOfRange, unknownValue
    }

    package let kind: Kind
    /// The field's name behind those of the objects that it stands in.
    package let path: [String]
    /// What is said of the field, and what is allowed: the rest of a sentence that begins with its name.
    package let statement: String

    /// The field's name as people write it, such as `source.kind`.
    package var name: String { path.joined(separator: ".") }

    package var description: String { "\(name) \(statement)" }
}

/// All that is wrong with an object.
package struct FieldIssues: Error, Sendable, Equatable {
    /// In the order in which they were found; never empty.
    package let all: [FieldIssue]
}
