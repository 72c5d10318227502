import FoundationEssentials

/// A type in a request or a report, with its schema.
package protocol APIModel: Codable, Sendable {
    /// Creates the value that absent fields of a request mean, or a report for the relay to fill in.
    init()
    static var schema: Schema { get }
}

extension APIModel {
    /// Reads an object strictly by the type's schema, then decodes it.
    ///
    /// - Parameter device: The field `device`, if the call's path sets it instead of the object.
    /// - Throws: All issues of the object.
    package init(reading members: [JSONValue.Member], device: String? = nil) throws(FieldIssues) {
        self = try ObjectReader.read(members) { reader in
            guard let device else { return reader.model(Self.self) }
            return reader.accepted(by: Self.schema.without("device")).flatMap {
                Self.decoded(from: $0 + [JSONValue.Member(name: "device", value: .string(device))])
            }
        }
    }
}

extension ObjectReader {
    /// Reads the whole object by the type's schema. Returns `nil` after noting an issue.
    package mutating func model<Model: APIModel>(_: Model.Type) -> Model? {
        accepted(by: Model.schema).flatMap(Model.decoded)
    }

    /// Reads the object in the field `name` by the type's schema. Returns `nil` if the field is absent, or if it is
    /// wrong after noting the issue.
    package mutating func model<Model: APIModel>(_ name: String, _: Model.Type) -> Model? {
        object(name) { $0.model(Model.self) }
    }

    /// Reads all fields of an object or of one of its variants, and returns the valid ones.
    fileprivate mutating func accepted(by schema: Schema) -> [JSONValue.Member]? {
        switch schema.form {
        case .object(let fields): return accepted(by: fields)
        case .variants(let variants): return accepted(byOneOf: variants)
        default: return nil
        }
    }

    /// Reads `fields` and leaves no other, except `others`. Returns the valid ones.
    private mutating func accepted(by fields: [Field], knowing others: [Field] = []) -> [JSONValue.Member] {
        for field in fields where field.isRequired { require(field.name) }
        let members = fields.compactMap { field in
            value(field.name, field.schema).map { JSONValue.Member(name: field.name, value: $0) }
        }
        for field in others { pass(field.name) }
        finish()
        return members
    }

    /// Reads the field `name`. Returns `nil` if it is absent, or if it is wrong after noting the issue.
    private mutating func value(_ name: String, _ schema: Schema) -> JSONValue? {
        if schema.isNullable, takeNull(name) { return .null }
        switch schema.form {
        case .bool: return bool(name).map(JSONValue.bool)
        case .integer(let ranges): return integer(name, in: ranges).map(JSONValue.integer)
        case .even(let range): return integer(name, in: [range]).map { .integer($0 & ~1) }
        case .number(let range): return number(name, in: range).map(JSONValue.number)
        case .string(let length): return string(name, length: length).map(JSONValue.string)
        case .pattern(let pattern): return string(name, matching: pattern).map(JSONValue.string)
        case .words(let words):
            if let advice = words.objectAdvice, isObject(name) {
                pass(name)
                note(.unknownValue, name, advice)
                return nil
            }
            return word(name, oneOf: words.allowed, near: words.spellings, parse: words.word).map(JSONValue.string)
        case .constant(.string(let word)): return constant(name, word).map(JSONValue.string)
        case .object, .variants: return object(name) { $0.accepted(by: schema).map(JSONValue.object) }
        case .list(let elements, let count):
            return list(name, count: count) { $0.value($1, elements) }.map(JSONValue.array)
        // Requests never contain these.
        case .count, .figure, .text, .date, .constant, .array, .dictionary, .anything, .bytes: return nil
        }
    }

    /// Reads a field with only one allowed word. A query may repeat it.
    private mutating func constant(_ name: String, _ word: String) -> String? {
        var accepted: String?
        repeat {
            accepted = self.word(name, oneOf: word, near: [word]) { $0 == word ? $0 : nil }
        } while accepted != nil && has(name)
        return accepted
    }

    private mutating func string(_ name: String, matching pattern: Schema.Pattern) -> String? {
        guard let string = string(name, length: pattern.length) else { return nil }
        if pattern.matches(string) { return string }
        note(.unknownValue, name, "is \"\(string)\"; allowed: \(pattern.allowed)")
        return nil
    }
}

/// Objects with several variants. Constant fields distinguish them first, then the fields that are present.
extension ObjectReader {
    /// Reads the fields of the variant that fits. Returns the valid ones, or `nil` if none fits.
    private mutating func accepted(byOneOf variants: [Schema]) -> [JSONValue.Member]? {
        guard let candidates = candidates(variants.map(\.fields)) else { return nil }
        let known = Set(candidates.joined().map(\.name))
        let present = Set(names).intersection(known)
        let fitting = candidates.filter { present.isSubset(of: $0.map(\.name)) }
        guard let chosen = fitting.first ?? candidates.first else { return nil }
        let others = fitting.joined().filter { field in !chosen.contains { $0.name == field.name } }
        return accepted(by: chosen, knowing: others)
    }

    /// Returns the variants that match all constants. Notes an issue and returns `nil` if none does.
    private mutating func candidates(_ variants: [[Field]]) -> [[Field]]? {
        var candidates = variants
        var examined: Set<String> = []
        while let field = candidates.joined().first(where: {
            $0.schema.constantWord != nil && !examined.contains($0.name)
        }) {
            examined.insert(field.name)
            let words = candidates.map { $0.first { $0.name == field.name }?.schema.constantWord }
            if !has(field.name) {
                guard candidates.allSatisfy({ $0.contains { $0.name == field.name && $0.isRequired } }) else {
                    continue
                }
                require(field.name)
                // Without this constant, no other field can be checked.
                return nil
            }
            let allowed = words.compactMap(\.self).uniqued
            guard
                let word = peekWord(
                    field.name,
                    oneOf: Schema.Words.list(allowed),
                    near: allowed,
                    parse: { words.contains($0) ? $0 : nil }
                )
            else { return nil }
            candidates = zip(candidates, words).filter { $0.1 == word }.map(\.0)
        }
        return candidates
    }
}

extension Schema {
    /// The single allowed word; `nil` unless there is exactly one.
    fileprivate var constantWord: String? {
        if case .constant(.string(let word)) = form { word } else { nil }
    }
}

extension [String] {
    /// The elements without duplicates, in order of first occurrence.
    fileprivate var uniqued: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}

extension APIModel {
    /// Decodes JSON that the schema has accepted. Absent fields keep their initial values.
    ///
    /// Returns `nil` if the type and its schema disagree.
    fileprivate static func decoded(from members: [JSONValue.Member]) -> Self? {
        guard case .object(let initial)? = try? JSONValue(encoding: Self()) else { return nil }
        let names = Set(members.map(\.name))
        let all = initial.filter { !names.contains($0.name) && $0.value != .null } + members
        return try? JSONDecoder().decode(Self.self, from: Data(JSONValue.object(all).text.utf8))
    }
}
