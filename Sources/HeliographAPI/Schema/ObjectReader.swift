/// Reads the fields of an object strictly. Each field is taken once, the rest are issues in the end, and all issues are
/// kept.
///
/// Request bodies, the configuration file and the relay's flags are read by it, so that each rule is written once. Its
/// functions return `nil` for a field that is absent, or that is wrong after noting the issue.
package struct ObjectReader {
    private var members: [JSONValue.Member]
    private let path: [String]
    /// The names of the fields that the reader knows.
    private var known: [String] = []
    private var issues: [FieldIssue] = []

    private init(members: [JSONValue.Member], path: [String]) {
        self.members = members
        self.path = path
    }

    /// Reads an object's members with `read`, which may return `nil` only after noting an issue.
    package static func read<Value>(
        _ members: [JSONValue.Member],
        _ read: (inout ObjectReader) -> Value?
    ) throws(FieldIssues) -> Value {
        var reader = ObjectReader(members: members, path: [])
        let value = read(&reader)
        guard reader.issues.isEmpty else { throw FieldIssues(all: reader.issues) }
        // A bug in `read` becomes an error of the call instead of ending the relay.
        guard let value else {
            throw FieldIssues(all: [FieldIssue(kind: .missing, path: [], statement: "it is incomplete")])
        }
        return value
    }

    /// The names of the fields that have not been taken yet.
    package var names: [String] { members.map(\.name) }

    /// Returns whether the field is present and not taken yet.
    package func has(_ name: String) -> Bool { members.contains { $0.name == name } }

    func isObject(_ name: String) -> Bool {
        if case .object = members.first(where: { $0.name == name })?.value { true } else { false }
    }

    package func isString(_ name: String) -> Bool {
        if case .string = members.first(where: { $0.name == name })?.value { true } else { false }
    }

    /// Notes an issue for each missing field. Call it before they are taken.
    package mutating func require(_ names: String...) {
        for name in names where !has(name) { note(.missing, name, "is missing") }
    }

    /// Leaves the field `name` to another reader.
    package mutating func pass(_ name: String) {
        known.append(name)
        members.removeAll { $0.name == name }
    }

    /// Most unknown fields for which a known one is suggested. This limits the work for hostile bodies.
    private static let suggestions = 10

    /// Ends the reading: remaining fields are unknown, or duplicates.
    package mutating func finish() {
        let allowed = known.isEmpty ? "No fields are allowed." : "Allowed: \(known.joined(separator: ", "))."
        for (place, name) in names.enumerated() {
            guard !known.contains(name) else {
                note(.unknown, name, "is given more than once")
                continue
            }
            let question = place < Self.suggestions ? NearestWord.question(for: name, among: known) : ""
            issues.append(FieldIssue(unknown: path + [name], advice: "\(question) \(allowed)"))
        }
        members = []
    }

    /// Notes an issue with the field `name`. `statement` continues the sentence after the name.
    package mutating func note(_ kind: FieldIssue.Kind, _ name: String, _ statement: String) {
        issues.append(FieldIssue(kind: kind, path: path + [name], statement: statement))
    }

    // MARK: Fields

    /// Takes a whole number in `range`.
    package mutating func integer(_ name: String, in range: ClosedRange<Int>) -> Int? { integer(name, in: [range]) }

    /// Takes a whole number in one of `ranges`.
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

    /// Takes a number in `range`.
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

    /// Takes a boolean.
    package mutating func bool(_ name: String) -> Bool? {
        switch take(name) {
        case nil: return nil
        case .bool(let bool): return bool
        case let value?: return wrongType(name, "true or false", is: value.kind)
        }
    }

    /// Takes a string whose number of Unicode code points is in `length`. NUL is rejected, because it would end the
    /// string in C.
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
                note(.outOfRange, name, "contains a NUL; allowed: any other character")
                return nil
            }
            return string
        case let value?: return wrongType(name, "a string", is: value.kind)
        }
    }

    /// Takes a list of strings with a number of elements in `count` and of characters in `length`, without NUL.
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
            let allowed = "\(count.lowerBound) to \(count.upperBound)"
            note(.outOfRange, name, "has \(elements.count) strings; allowed: \(allowed)")
            return nil
        }
        var strings: [String] = []
        for element in elements {
            guard case .string(let string) = element else {
                note(.wrongType, name, "contains \(element.kind); an array of strings is expected")
                return nil
            }
            let length = string.unicodeScalars.count
            guard lengths.contains(length), !string.utf8.contains(0) else {
                let allowed = "\(lengths.lowerBound) to \(lengths.upperBound) characters each, no NUL"
                note(.outOfRange, name, "contains a string of \(length) characters; allowed: \(allowed)")
                return nil
            }
            strings.append(string)
        }
        return strings
    }

    /// Takes a list with a number of elements in `count`, and reads each as the field of its place, from 0 on.
    ///
    /// It stops at the first issue, so that a long list of wrong elements costs no more than one.
    package mutating func list<Value>(
        _ name: String,
        count: ClosedRange<Int>,
        _ read: (inout ObjectReader, _ place: String) -> Value?
    ) -> [Value]? {
        let elements: [JSONValue]
        switch take(name) {
        case nil: return nil
        case .array(let array): elements = array
        case let value?: return wrongType(name, "an array", is: value.kind)
        }
        guard count.contains(elements.count) else {
            let allowed =
                count.lowerBound == count.upperBound
                ? "\(count.lowerBound)" : "\(count.lowerBound) to \(count.upperBound)"
            note(.outOfRange, name, "has \(elements.count) elements; allowed: \(allowed)")
            return nil
        }
        var values: [Value] = []
        for (place, element) in elements.enumerated() {
            let member = JSONValue.Member(name: "\(place)", value: element)
            var reader = ObjectReader(members: [member], path: path + [name])
            let value = read(&reader, member.name)
            issues.append(contentsOf: reader.issues)
            guard reader.issues.isEmpty, let value else { return nil }
            values.append(value)
        }
        return values
    }

    /// Maps a string with `parse`; `words` lists the allowed values for error messages.
    ///
    /// - Parameter spellings: The allowed words, of which an error message suggests the nearest.
    package mutating func word<Value>(
        _ name: String,
        oneOf words: String,
        near spellings: [String] = [],
        parse: (String) -> Value?
    ) -> Value? {
        guard let string = string(name, length: 0...100) else { return nil }
        guard let value = parse(string) else {
            let question = NearestWord.question(for: string, among: spellings)
            let advice = question.isEmpty ? "; allowed: \(words)" : ".\(question) Allowed: \(words)"
            note(.unknownValue, name, "is \"\(string)\"\(advice)")
            return nil
        }
        return value
    }

    /// Does the same as ``word(_:oneOf:near:parse:)``, but keeps a valid field so that it can be read again.
    mutating func peekWord<Value>(
        _ name: String,
        oneOf words: String,
        near spellings: [String],
        parse: (String) -> Value?
    ) -> Value? {
        var reader = self
        let value = reader.word(name, oneOf: words, near: spellings, parse: parse)
        if value == nil { self = reader }
        return value
    }

    /// Reads the fields of an object with `read`.
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

    /// Takes the field `name` if it is `null`. Only fields that `null` clears use this; for others `null` has the wrong
    /// type.
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

    /// Removes the first field with this name. A duplicate stays, and is an issue in the end.
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

/// An issue with one field of a request's body, of the configuration file, or of the flags.
package struct FieldIssue: Sendable, Equatable, CustomStringConvertible {
    /// The kinds of issues.
    package enum Kind: Sendable {
        case missing, unknown, wrongType, outOfRange, unknownValue
    }

    package let kind: Kind
    /// The field's name, after those of the objects that contain it.
    package let path: [String]
    /// The issue, and what is allowed: the rest of a sentence that begins with the field's name.
    ///
    /// For an unknown field, it is what follows the sentence that calls it unknown.
    package let statement: String
    /// Whether the object has no field of this name.
    package let isUnknownField: Bool

    init(kind: Kind, path: [String], statement: String) {
        (self.kind, self.path, self.statement, isUnknownField) = (kind, path, statement, false)
    }

    /// Creates the issue of a field that the object does not have. `advice` begins with a space.
    init(unknown path: [String], advice: String) {
        (kind, self.path, statement, isUnknownField) = (.unknown, path, advice, true)
    }

    /// The field's name as people write it, such as `source.kind`.
    package var name: String { path.joined(separator: ".") }

    package var description: String { message(naming: name) }

    /// Returns the whole message, with `name` for the field.
    package func message(naming name: String) -> String {
        isUnknownField ? "Unknown field '\(name)'.\(statement)" : "\(name) \(statement)"
    }
}

/// All issues of an object.
package struct FieldIssues: Error, Sendable, Equatable {
    /// The issues in the order in which they were found; never empty.
    package let all: [FieldIssue]
}
