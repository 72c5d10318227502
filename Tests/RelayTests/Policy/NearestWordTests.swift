import HeliographAPI
import Testing

@Suite("The nearest word")
struct NearestWordTests {
    @Test(
        "is the one with the fewest typing errors",
        arguments: [
            ("timout", "timeout"), ("tiemout", "timeout"), ("timeoutt", "timeout"), ("timeaut", "timeout"),
            ("Timeout", "timeout"), ("unti", "until"), ("utnil", "until"), ("fsp", "fps"), ("tmeotu", "timeout"),
        ]
    )
    func isFound(text: String, word: String) {
        #expect(NearestWord.of(text, among: ["until", "timeout", "for", "fps"]) == word)
    }

    @Test(
        "is none if the difference is more than two errors or half of the word",
        arguments: ["", "x", "fp", "fr", "after", "tmut", "timeouts!!", "noSuchField", "tïmëöut"]
    )
    func isNone(text: String) {
        #expect(NearestWord.of(text, among: ["until", "timeout", "for", "fps"]) == nil)
    }

    @Test("is the first of several that are equally near")
    func isFirst() {
        #expect(NearestWord.of("h26x", among: ["h264", "h265"]) == "h264")
        #expect(NearestWord.of("h265x", among: ["h264", "h265"]) == "h265")
    }

    @Test("is never the word itself")
    func isAnotherWord() {
        #expect(NearestWord.of("width", among: ["width"]) == nil)
        #expect(NearestWord.of("width", among: ["width", "widths"]) == "widths")
    }

    @Test("is not looked for if a word has more than 64 bytes")
    func isBounded() {
        let word = String(repeating: "a", count: 63)
        #expect(NearestWord.of(word + "b", among: [word]) == word)
        #expect(NearestWord.of(word + "bc", among: [word]) == nil)
        #expect(NearestWord.of(word, among: [word + "bc"]) == nil)
    }

    @Test("is suggested by a question, or not at all")
    func question() {
        #expect(NearestWord.question(for: "timout", among: ["timeout"]) == " Did you mean 'timeout'?")
        #expect(NearestWord.question(for: "after", among: ["timeout"]).isEmpty)
    }

    @Test("of an unknown field's name and of an unknown value is part of the message")
    func isInMessages() {
        func messages(_ members: [JSONValue.Member]) -> [String] {
            do throws(FieldIssues) {
                _ = try ObjectReader.read(members) { reader -> Bool? in
                    _ = reader.word("until", oneOf: "static or changed", near: ["static", "changed"]) { word in
                        word == "static" ? true : nil
                    }
                    _ = reader.number("timeout", in: 0...1)
                    reader.finish()
                    return true
                }
                return []
            } catch {
                return error.all.map(\.description)
            }
        }
        #expect(
            messages([.init(name: "until", value: "sttaic"), .init(name: "timout", value: 1)]) == [
                "until is \"sttaic\". Did you mean 'static'? Allowed: static or changed",
                "Unknown field 'timout'. Did you mean 'timeout'? Allowed: until, timeout.",
            ]
        )
        #expect(
            messages([.init(name: "until", value: "never"), .init(name: "after", value: 1)]) == [
                "until is \"never\"; allowed: static or changed",
                "Unknown field 'after'. Allowed: until, timeout.",
            ]
        )
        #expect(
            messages([.init(name: "timeout", value: 1), .init(name: "timeout", value: 1)]) == [
                "timeout is given more than once"
            ]
        )
    }
}
