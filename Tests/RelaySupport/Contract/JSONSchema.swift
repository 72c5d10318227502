import Foundation
package import HeliographAPI

/// The part of JSON Schema 2020-12 that openapi.json uses. Any other keyword is an error, so that nothing stays
/// unchecked.
package struct JSONSchema {
    /// Annotations, which are not checked.
    private static let annotations: Set = ["description", "default"]

    /// The document that contains its references.
    private let root: JSONValue
    private let schema: JSONValue

    package init(_ schema: JSONValue, in root: JSONValue) {
        self.schema = schema
        self.root = root
    }

    /// Returns what is wrong with `value`, and where; empty if it conforms.
    package func faults(of value: JSONValue) -> [String] { faults(of: value, at: "") }

    private func faults(of value: JSONValue, at place: String) -> [String] {
        guard case .object(let keywords) = schema else { return ["\(place): there is no schema"] }
        return keywords.filter { !Self.annotations.contains($0.name) }.flatMap {
            faults(of: value, at: place, by: $0.name, $0.value)
        }
    }

    private func part(_ schema: JSONValue) -> JSONSchema { JSONSchema(schema, in: root) }

    private func faults(of value: JSONValue, at place: String, by keyword: String, _ argument: JSONValue) -> [String] {
        func fault(unless holds: Bool, _ statement: @autoclosure () -> String) -> [String] {
            holds ? [] : ["\(place): \(statement())"]
        }
        switch (keyword, argument) {
        case ("$ref", .string(let pointer)):
            guard let target = root.resolved(pointer) else { break }
            return part(target).faults(of: value, at: place)
        case ("allOf", .array(let schemas)): return schemas.flatMap { part($0).faults(of: value, at: place) }
        case ("anyOf", .array(let schemas)):
            return fault(unless: schemas.contains { part($0).faults(of: value).isEmpty }, "is none of anyOf")
        case ("oneOf", .array(let schemas)):
            let all = schemas.map { part($0).faults(of: value, at: place) }
            let count = all.count(where: \.isEmpty)
            return fault(unless: count == 1, "is \(count) of oneOf; \(all.joined().joined(separator: "; "))")
        case ("const", _): return fault(unless: value == argument, "\(value.text) is not \(argument.text)")
        case ("enum", .array(let values)):
            return fault(unless: values.contains(value), "\(value.text) is none of \(argument.text)")
        case ("type", _):
            let types = argument.elements ?? [argument]
            return fault(unless: types.contains { value.isOf(type: $0) }, "\(value.kind) is no \(argument.text)")
        case ("minimum", _), ("maximum", _):
            guard let limit = argument.number else { break }
            guard let number = value.number else { return [] }
            let holds = keyword == "minimum" ? number >= limit : number <= limit
            return fault(unless: holds, "\(number) is beyond the \(keyword) \(limit)")
        case ("minLength", .integer(let limit)), ("maxLength", .integer(let limit)):
            guard let count = value.string?.unicodeScalars.count else { return [] }
            let holds = keyword == "minLength" ? count >= limit : count <= limit
            return fault(unless: holds, "\(count) characters are beyond the \(keyword) \(limit)")
        case ("pattern", .string(let pattern)):
            guard let expression = try? Regex(pattern) else { break }
            guard let string = value.string else { return [] }
            return fault(unless: string.contains(expression), "\(value.text) does not match \(pattern)")
        case ("format", "date-time"):
            guard let string = value.string else { return [] }
            let form = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z/
            return fault(unless: string.wholeMatch(of: form) != nil, "\(value.text) is not a date-time")
        // Integers have 64 bits here anyway, and bytes are not JSON.
        case ("format", "int64"), ("format", "binary"): return []
        case ("items", _):
            return (value.elements ?? []).enumerated().flatMap {
                part(argument).faults(of: $0.element, at: "\(place)[\($0.offset)]")
            }
        case ("minItems", .integer(let limit)), ("maxItems", .integer(let limit)):
            guard let count = value.elements?.count else { return [] }
            let holds = keyword == "minItems" ? count >= limit : count <= limit
            return fault(unless: holds, "\(count) elements are beyond the \(keyword) \(limit)")
        case ("required", .array(let names)):
            guard value.members != nil else { return [] }
            return names.compactMap(\.string).flatMap { fault(unless: value[$0] != nil, "\($0) is missing") }
        case ("dependentRequired", .object(let dependencies)):
            return dependencies.filter { value[$0.name] != nil }.flatMap {
                faults(of: value, at: place, by: "required", $0.value)
            }
        case ("properties", .object):
            return (value.members ?? []).flatMap { member in
                argument[member.name].map { part($0).faults(of: member.value, at: "\(place).\(member.name)") } ?? []
            }
        case ("additionalProperties", _):
            return faults(
                of: value,
                at: place,
                beside: Set((schema["properties"]?.members ?? []).map(\.name)),
                argument
            )
        case ("unevaluatedProperties", _): return faults(of: value, at: place, beside: evaluated, argument)
        default: break
        }
        return ["\(place): the schema's \(keyword) is not understood: \(argument.text)"]
    }

    /// Returns what is wrong with the members of `value` that are not among `names`.
    private func faults(of value: JSONValue, at place: String, beside names: Set<String>, _ schema: JSONValue)
        -> [String]
    {
        (value.members ?? []).filter { !names.contains($0.name) }.flatMap { member in
            schema == false
                ? ["\(place): \(member.name) is too many"]
                : part(schema).faults(of: member.value, at: "\(place).\(member.name)")
        }
    }

    /// The properties that this schema and all that it is made of name.
    private var evaluated: Set<String> {
        var names = Set((schema["properties"]?.members ?? []).map(\.name))
        if case .string(let pointer) = schema["$ref"], let target = root.resolved(pointer) {
            names.formUnion(part(target).evaluated)
        }
        for schema in schema["allOf"]?.elements ?? [] { names.formUnion(part(schema).evaluated) }
        return names
    }
}

extension JSONValue {
    package var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    package var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    package var string: String? {
        if case .string(let string) = self { string } else { nil }
    }

    package var number: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        default: nil
        }
    }

    /// Returns what a reference within this document, such as `#/components/schemas/Session`, points to (RFC 6901).
    package func resolved(_ reference: String) -> JSONValue? {
        guard reference.hasPrefix("#/") else { return nil }
        return reference.dropFirst(2).split(separator: "/").reduce(self) { value, name in
            value?[String(name).replacing("~1", with: "/").replacing("~0", with: "~")]
        }
    }

    fileprivate func isOf(type: JSONValue) -> Bool {
        switch (type, self) {
        case ("null", .null), ("boolean", .bool), ("integer", .integer), ("number", .integer), ("number", .number),
            ("string", .string), ("array", .array), ("object", .object):
            true
        // A number without a fraction, however it is written.
        case ("integer", .number(let number)): number == number.rounded()
        default: false
        }
    }
}
