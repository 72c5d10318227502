import HeliographAPI
import Relay
import RelayTestSupport
import Testing

@Suite("A JSON Schema")
struct JSONSchemaTests {
    /// A schema, a valid value and an invalid one.
    struct Case: Sendable, CustomTestStringConvertible {
        let schema: String
        let good: String
        let bad: String

        init(_ schema: String, _ good: String, _ bad: String) {
            (self.schema, self.good, self.bad) = (schema, good, bad)
        }

        var testDescription: String { "\(schema): \(good), not \(bad)" }
    }

    private static let cases = [
        Case(#"{"type": "null"}"#, "null", "0"), Case(#"{"type": "boolean"}"#, "true", "1"),
        Case(#"{"type": "integer"}"#, "3.0", "3.5"), Case(#"{"type": "number"}"#, "3.5", #""3.5""#),
        Case(#"{"type": "string"}"#, #""a""#, "null"), Case(#"{"type": "array"}"#, "[]", "{}"),
        Case(#"{"type": "object"}"#, "{}", "[]"), Case(#"{"type": ["string", "null"]}"#, "null", "false"),
        Case(#"{"const": "a"}"#, #""a""#, #""b""#), Case(#"{"enum": ["a", null]}"#, "null", #""b""#),
        Case(#"{"minimum": 1}"#, "1", "0.9"), Case(#"{"maximum": 1}"#, "1", "1.1"),
        Case(#"{"minLength": 1}"#, #""a""#, #""""#), Case(#"{"maxLength": 1}"#, #""ä""#, #""ab""#),
        Case(#"{"pattern": "^[a-c]+$"}"#, #""abc""#, #""abcd""#),
        Case(#"{"pattern": "^[^\\u0000]*$"}"#, #""a""#, #""a\u0000""#),
        Case(#"{"format": "date-time"}"#, #""2026-03-01T12:00:00.000Z""#, #""yesterday""#),
        Case(#"{"items": {"type": "null"}}"#, "[null]", "[null, 1]"),
        Case(#"{"required": ["a"]}"#, #"{"a": null}"#, #"{"b": null}"#),
        Case(#"{"dependentRequired": {"a": ["b"]}}"#, #"{"b": 1}"#, #"{"a": 1}"#),
        Case(#"{"properties": {"a": {"type": "null"}}}"#, #"{"a": null, "b": 1}"#, #"{"a": 1}"#),
        Case(#"{"properties": {"a": {}}, "additionalProperties": false}"#, #"{"a": 1}"#, #"{"a": 1, "b": 1}"#),
        Case(#"{"properties": {"a": {}}, "additionalProperties": {"type": "null"}}"#, #"{"b": null}"#, #"{"b": 1}"#),
        Case(#"{"allOf": [{"minimum": 1}, {"maximum": 3}]}"#, "2", "4"),
        Case(#"{"anyOf": [{"const": 0}, {"minimum": 3}]}"#, "0", "2"),
        Case(#"{"oneOf": [{"type": "integer"}, {"minimum": 3}]}"#, "3.5", "4"),
        Case(##"{"$ref": "#/$defs/a"}"##, "null", "1"),
        Case(
            ##"{"allOf": [{"$ref": "#/$defs/b"}], "properties": {"c": {}}, "unevaluatedProperties": false}"##,
            #"{"b": 1, "c": 1}"#,
            #"{"b": 1, "d": 1}"#
        ),
    ]

    private static func faults(_ schema: String, _ value: String) throws -> [String] {
        let definitions = try JSONValue(
            parsing: #"{"$defs": {"a": {"type": "null"}, "b": {"properties": {"b": {}}}}}"#.utf8
        )
        return JSONSchema(try JSONValue(parsing: schema.utf8), in: definitions).faults(
            of: try JSONValue(parsing: value.utf8)
        )
    }

    @Test("tells values that conform from others", arguments: cases)
    func conformance(_ example: Case) throws {
        #expect(try Self.faults(example.schema, example.good) == [])
        #expect(try Self.faults(example.schema, example.bad) != [])
    }

    @Test("says where the fault is")
    func places() throws {
        let schema = #"{"properties": {"a": {"items": {"properties": {"b": {"type": "null"}}}}}}"#
        #expect(try Self.faults(schema, #"{"a": [{"b": null}, {"b": 1}]}"#) == [".a[1].b: a number is no \"null\""])
    }

    @Test(
        "that has what is not understood fits nothing",
        arguments: [
            #"{"multipleOf": 2}"#, #"{"format": "email"}"#, ##"{"$ref": "#/$defs/c"}"##, #"{"pattern": "("}"#, "[]",
            "true",
        ]
    )
    func unknown(schema: String) throws {
        #expect(try Self.faults(schema, "2") != [])
    }
}
