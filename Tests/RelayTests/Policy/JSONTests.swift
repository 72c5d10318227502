import HeliographAPI
import Relay
import TestSupport
import Testing

@Suite("JSON")
struct JSONTests {
    private func parse(_ text: String) throws -> JSONValue { try JSONValue(parsing: text.utf8) }

    @Test(
        "is parsed to the values it says",
        arguments: [
            ("null", JSONValue.null), (" true ", .bool(true)), ("-0", .integer(0)), ("30", .integer(30)),
            ("30.0", .integer(30)), ("1e3", .integer(1000)), ("\"a\\n\\u00e9\\ud83d\\ude00/\\/\"", .string("a\né😀//")),
            ("[]", .array([])),
            ("[1,[2]]", [1, [2]]), ("{ \"b\" : 1 , \"a\" : {} }", ["a": .object([]), "b": 1]),
            ("100000000000000000000", .number(1e20)),
        ] as [(String, JSONValue)]
    )
    func isParsed(text: String, value: JSONValue) throws {
        #expect(try parse(text) == value)
    }

    @Test(
        "is refused when it is broken",
        arguments: [
            "", " ", "{", "}", "{a:1}", "{\"a\" 1}", "01", "1.", ".5", "+1", "1e", "- 1", "tru",
            "nulls",
            "\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\t\"", "'a'", "1 2", "NaN", "1e999",
            String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000),
        ]
    )
    func isRefused(text: String) {
        #expect(throws: JSONError.self) { try parse(text) }
    }

    @Test("is refused when a string is not UTF-8")
    func isRefusedWithoutUTF8() {
        #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xFF, 0x22]) }
    }

    @Test("is refused when it is nested too deeply, before it is decoded")
    func isRefusedNested() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + #""]\"[[""# + String(repeating: "]", count: depth)
        }
        #expect(throws: Never.self) { try parse(nested(JSONValue.maximumDepth)) }
        let error = #expect(throws: JSONError.self) { try parse(nested(JSONValue.maximumDepth + 1)) }
        #expect(error?.description.contains("inside one another") == true)
        #expect(throws: Never.self, "only what is open counts") {
            try parse("[" + Array(repeating: "[]", count: 100).joined(separator: ",") + "]")
        }
        let hidden = nested(100).utf8.flatMap { [$0, 0] as [UInt8] }
        #expect(throws: JSONError.self, "UTF-16") { try JSONValue(parsing: hidden) }
    }

    @Test("that is written is read back the same")
    func isReadBack() throws {
        let value: JSONValue = ["a": nil, "b": [true, 1, .number(1.25), "x\"\\\u{1}\né"], "c": ["d": .number(-0.001)]]
        #expect(try parse(value.text) == value)
        #expect(value.text == #"{"a":null,"b":[true,1,1.25,"x\"\\\u0001\né"],"c":{"d":-0.001}}"#)
    }

    @Test("parsing survives any bytes")
    func survivesAnyBytes() {
        var generator = SeededGenerator(seed: 5)
        let alphabet = Array("{}[]\",:0123456789.eE+-truefalsn\\u \u{00e9}\n".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }
            if let value = try? JSONValue(parsing: bytes) {
                #expect((try? JSONValue(parsing: value.text.utf8)) != nil)
            }
        }
    }
}
