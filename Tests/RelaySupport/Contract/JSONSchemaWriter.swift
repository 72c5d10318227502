package import HeliographAPI

/// Writes schemas as JSON Schema, those with names into the components of an OpenAPI document.
package struct JSONSchemaWriter {
    private(set) var components: [JSONValue.Member] = []

    package init() {}

    /// - Parameter summary: The sentence beside a reference, or instead of the schema's own.
    package mutating func json(_ schema: Schema, _ summary: String = "") -> JSONValue {
        guard let name = schema.name else { return inline(schema, summary.isEmpty ? schema.summary : summary) }
        if !components.contains(where: { $0.name == name }) {
            // A place for it first, so that components stand in the order in which they are met.
            components.append(.init(name: name, value: .null))
            var named = schema
            named.isNullable = false
            let value = inline(named, schema.summary)
            for place in components.indices where components[place].name == name { components[place].value = value }
        }
        let reference: JSONValue = ["$ref": .string("#/components/schemas/\(name)")]
        return schema.isNullable ? Self.described(summary, ["oneOf": [reference, ["type": "null"]]]) : reference
    }

    private mutating func inline(_ schema: Schema, _ summary: String) -> JSONValue {
        var members = keywords(of: schema)
        if schema.isNullable { members = members.map(Self.orNull) }
        let place = members.first?.name == "type" ? 1 : 0
        if !summary.isEmpty { members.insert(.init(name: "description", value: .string(summary)), at: place) }
        if let standard = schema.standard { members.append(.init(name: "default", value: standard)) }
        return .object(members)
    }

    private mutating func keywords(of schema: Schema) -> [JSONValue.Member] {
        let keywords: JSONValue =
            switch schema.form {
            case .bool: ["type": "boolean"]
            case .integer(let ranges) where ranges.count == 1: Self.integer(ranges[0])
            case .integer(let ranges): ["type": "integer", "anyOf": .array(ranges.map(Self.range))]
            case .even(let range): Self.integer(range)
            case .count(let least):
                least.map { ["type": "integer", "minimum": .integer($0)] } ?? ["type": "integer"]
            case .number(let range):
                ["type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)]
            case .figure: ["type": "number"]
            case .string(let length): Self.string(length, pattern: "^[^\\u0000]*$")
            case .pattern(let pattern): Self.string(pattern.length, pattern: pattern.expression)
            case .text: ["type": "string"]
            case .date: ["type": "string", "format": "date-time"]
            case .words(let words):
                ["type": "string", "enum": .array((words.all + words.aliases.map(\.alias)).map(JSONValue.string))]
            case .constant(let value): ["const": value]
            case .array(let elements): ["type": "array", "items": json(elements)]
            case .list(let elements, let count):
                [
                    "type": "array", "minItems": .integer(count.lowerBound), "maxItems": .integer(count.upperBound),
                    "items": json(elements),
                ]
            case .dictionary(let members): ["type": "object", "additionalProperties": json(members)]
            case .object(let fields): object(fields, isOpen: schema.isOpen)
            case .variants(let variants): ["oneOf": .array(variants.map { json($0) })]
            case .anything: [:]
            case .bytes: ["type": "string", "format": "binary"]
            }
        return keywords.members ?? []
    }

    private mutating func object(_ fields: [Field], isOpen: Bool) -> JSONValue {
        var members: [JSONValue.Member] = [.init(name: "type", value: "object")]
        let required = fields.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { members.append(.init(name: "required", value: .array(required))) }
        members.append(properties(fields))
        if !isOpen { members.append(.init(name: "additionalProperties", value: false)) }
        return .object(members)
    }

    /// The member `properties` with the schemas of fields.
    package mutating func properties(_ fields: [Field]) -> JSONValue.Member {
        let properties = fields.map { JSONValue.Member(name: $0.name, value: json($0.schema, $0.summary)) }
        return .init(name: "properties", value: .object(properties))
    }

    private static func range(_ range: ClosedRange<Int>) -> JSONValue {
        range.lowerBound == range.upperBound
            ? ["const": .integer(range.lowerBound)]
            : ["minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
    }

    private static func integer(_ range: ClosedRange<Int>) -> JSONValue {
        let bounds: JSONValue = ["minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
        let format: JSONValue = range.upperBound == .max ? ["format": "int64"] : [:]
        return .object(
            [.init(name: "type", value: "integer")] + (format.members ?? []) + (bounds.members ?? [])
        )
    }

    private static func string(_ length: ClosedRange<Int>, pattern: String) -> JSONValue {
        let least: JSONValue = length.lowerBound > 0 ? ["minLength": .integer(length.lowerBound)] : [:]
        let others: JSONValue = ["maxLength": .integer(length.upperBound), "pattern": .string(pattern)]
        return .object([.init(name: "type", value: "string")] + (least.members ?? []) + (others.members ?? []))
    }

    /// The same keyword for a value that may be null.
    private static func orNull(_ keyword: JSONValue.Member) -> JSONValue.Member {
        switch (keyword.name, keyword.value) {
        case ("type", let type): .init(name: "type", value: [type, "null"])
        case ("enum", .array(let words)): .init(name: "enum", value: .array(words + [.null]))
        default: keyword
        }
    }

    private static func described(_ summary: String, _ value: JSONValue) -> JSONValue {
        guard !summary.isEmpty else { return value }
        return .object([.init(name: "description", value: .string(summary))] + (value.members ?? []))
    }
}
