/// A description of the JSON values that a request or a report may hold.
///
/// Each type of the API has its schema beside it. ``ObjectReader`` validates requests by the schema, and openapi.json
/// is generated from it.
///
///     Schema.request("DrainRequest", [Field("timeout", .number(0...86_400), "Seconds until …")])
///
/// A schema describes one value and is itself a value. It contains no Swift types: a type is decoded from JSON that its
/// schema has accepted.
package struct Schema: Sendable {
    package indirect enum Form: Sendable {
        case bool
        /// A whole number in one of the ranges, in ascending order.
        case integer([ClosedRange<Int>])
        /// A whole number in a range; odd numbers are rounded down.
        case even(ClosedRange<Int>)
        /// A whole number with an optional lower bound: in reports only.
        case count(from: Int?)
        case number(ClosedRange<Double>)
        /// Any number: in reports only.
        case figure
        /// A string with this number of Unicode code points, without NUL.
        case string(length: ClosedRange<Int>)
        /// A string that matches a pattern.
        case pattern(Pattern)
        /// Any string: in reports only.
        case text
        /// A date and time of ISO 8601 in UTC: in reports only.
        case date
        case words(Words)
        /// This value and no other.
        case constant(JSONValue)
        /// A list of values: in reports only.
        case array(of: Schema)
        /// A list of this many values.
        case list(of: Schema, count: ClosedRange<Int>)
        /// An object with members of any name: in reports only.
        case dictionary(of: Schema)
        case object([Field])
        /// Objects that are distinguished by constant fields.
        case variants([Schema])
        /// Any JSON: in reports only.
        case anything
        /// Bytes that are not JSON: the body of an answer.
        case bytes
    }

    package var form: Form
    /// The name in openapi.json's components; `nil` for a schema that is written in place.
    package var name: String?
    /// One or two sentences in Markdown.
    package var summary: String
    package var isNullable = false
    /// Whether an object may have members besides its fields: in reports only.
    package var isOpen = false
    /// The value of an absent field, for the documentation. The decoded type has the same initial value.
    package var standard: JSONValue?

    package init(_ form: Form, named name: String? = nil, _ summary: String = "", default standard: JSONValue? = nil) {
        self.form = form
        self.name = name
        self.summary = summary
        self.standard = standard
    }

    /// The same schema, or `null`.
    package var orNull: Schema {
        var schema = self
        schema.isNullable = true
        return schema
    }

    /// The same object with members besides its fields.
    var open: Schema {
        var schema = self
        schema.isOpen = true
        return schema
    }

    package func `default`(_ value: JSONValue) -> Schema {
        var schema = self
        schema.standard = value
        return schema
    }

    /// Returns the same object without one of its fields, written in place.
    func without(_ field: String) -> Schema {
        Schema(.object(fields.filter { $0.name != field }), summary)
    }

    /// The fields of an object; none for other values.
    package var fields: [Field] {
        if case .object(let fields) = form { fields } else { [] }
    }
}

/// A field of an object: its name, its values and a sentence about it.
package struct Field: Sendable {
    package let name: String
    package let schema: Schema
    /// The description beside a reference to a named schema, or instead of the schema's own sentence.
    package let summary: String
    package let isRequired: Bool

    package init(_ name: String, _ schema: Schema, _ summary: String = "", isRequired: Bool = false) {
        self.name = name
        self.schema = schema
        self.summary = summary
        self.isRequired = isRequired
    }
}

extension Schema {
    /// Describes an object that callers send. Fields are optional unless they say otherwise.
    ///
    /// - Parameter name: The component's name; `nil` for an object that is written in place.
    package static func request(_ name: String?, _ summary: String, _ fields: [Field]) -> Schema {
        Schema(.object(fields), named: name, summary)
    }

    package static func request(_ name: String?, _ fields: [Field]) -> Schema { request(name, "", fields) }

    /// Describes an object that the relay sends. All fields are present, and `null` if there is no value.
    package static func report(_ name: String?, _ summary: String, _ fields: [Field]) -> Schema {
        let fields = fields.map { Field($0.name, $0.schema, $0.summary, isRequired: true) }
        return Schema(.object(fields), named: name, summary)
    }

    package static func report(_ name: String?, _ fields: [Field]) -> Schema { report(name, "", fields) }

    package static let bool = Schema(.bool)
    package static let text = Schema(.text)
    package static let date = Schema(.date)
    package static let figure = Schema(.figure)
    package static let bytes = Schema(.bytes)
    package static let anything = Schema(.anything)
    /// A count, 0 or more.
    package static let count = Schema(.count(from: 0))
    package static let anyInteger = Schema(.count(from: nil))

    package static func integer(_ ranges: ClosedRange<Int>...) -> Schema { Schema(.integer(ranges)) }
    package static func count(from least: Int) -> Schema { Schema(.count(from: least)) }
    package static func even(_ range: ClosedRange<Int>) -> Schema { Schema(.even(range)) }
    package static func number(_ range: ClosedRange<Double>) -> Schema { Schema(.number(range)) }
    package static func string(_ length: ClosedRange<Int>) -> Schema { Schema(.string(length: length)) }
    package static func constant(_ value: JSONValue) -> Schema { Schema(.constant(value)) }
    package static func array(of elements: Schema) -> Schema { Schema(.array(of: elements)) }
    package static func list(of elements: Schema, _ count: ClosedRange<Int>) -> Schema {
        Schema(.list(of: elements, count: count))
    }
    package static func dictionary(of members: Schema) -> Schema { Schema(.dictionary(of: members)) }

    /// Describes the words of an enumeration.
    package static func words<Word>(
        _: Word.Type,
        aliases: [(alias: String, word: Word)] = [],
        ignoringCase: Bool = false,
        allowed: String? = nil
    ) -> Schema where Word: CaseIterable & RawRepresentable, Word.RawValue == String {
        let all = Word.allCases.map(\.rawValue)
        return Schema(
            .words(Words(all, aliases.map { ($0.alias, $0.word.rawValue) }, ignoresCase: ignoringCase, allowed))
        )
    }

    package static func words(_ words: String...) -> Schema { .words(words) }

    package static func words(_ words: [String]) -> Schema { Schema(.words(Words(words, [], ignoresCase: false, nil))) }
}

extension Schema {
    /// The words that a string may be.
    package struct Words: Sendable {
        /// The words in the order of the documentation.
        package let all: [String]
        /// Alternative spellings, and their words.
        package let aliases: [(alias: String, word: String)]
        package let ignoresCase: Bool
        /// All words, for error messages.
        package let allowed: String
        /// The error message for an object in place of a word, without the field's name; `nil` for the usual one.
        package var objectAdvice: String?

        /// The words and their alternative spellings.
        var spellings: [String] { [all, aliases.map(\.alias)].flatMap(\.self) }

        init(_ all: [String], _ aliases: [(alias: String, word: String)], ignoresCase: Bool, _ allowed: String?) {
            self.all = all
            self.aliases = aliases
            self.ignoresCase = ignoresCase
            self.allowed = allowed ?? Self.list(all)
        }

        /// Joins words for people: `a or b`, or `a, b, c`.
        static func list(_ words: [String]) -> String { words.joined(separator: words.count == 2 ? " or " : ", ") }

        /// Returns the word that `text` spells, or `nil` if there is none.
        func word(for text: String) -> String? {
            let text = ignoresCase ? text.lowercased() : text
            return all.contains(text) ? text : aliases.first { $0.alias == text }?.word
        }
    }

    /// The strings that match a regular expression.
    package struct Pattern: Sendable {
        package let length: ClosedRange<Int>
        /// The expression in JSON Schema's syntax.
        package let expression: String
        /// The allowed strings, for error messages.
        let allowed: String
        let matches: @Sendable (String) -> Bool

        package init(
            length: ClosedRange<Int>,
            expression: String,
            allowed: String,
            matches: @escaping @Sendable (String) -> Bool
        ) {
            self.length = length
            self.expression = expression
            self.allowed = allowed
            self.matches = matches
        }
    }
}
