import Testing

@Suite("The scanner for traps")
struct TrapScannerTests {
    /// Lines that each break one rule once and no other rule.
    static let violations: [TrapScanner.Rule: [String]] = [
        .forced: [
            "let a = b!", "let a = f()!.c", "let a = try! f()", "let a = b as! C", "var a: C!", "let a = b[.c]!",
        ],
        .asserted: [
            "precondition(a)", "fatalError()", "assert(a)", "let a = { [unowned b] in c }",
            "let a = Dictionary(uniqueKeysWithValues: b)",
        ],
        .unchecked: [
            "func f(a: UnsafeRawBufferPointer)", "let a = b.loadUnaligned(as: C.self)", "let a = b.baseAddress",
        ],
        .subscript: [
            "let a = b[c]", "let a = b[0]", "let a = b.c[d...]", "let a = f()[0]", "let a = b?[c]",
            "let a = \"\\(b[c])\"",
            "unknown[a] = b",
        ],
        .arithmetic: [
            "let a = b + c", "let a = b - 1", "let a = 2 * b", "a += b", "a -= 1", "let a = b / c", "let a = b % c",
            "let a = -b", "let a = -(b)", "let a = b / 0", "let a = \"\\(b + c)\"", "let a = b - min(c, d)",
        ],
        .range: ["for _ in 0..<b {}", "let a = b...c", "let a = 0...(b)", "let a = b..<c.count"],
        .conversion: [
            "let a = Int(b)", "let a = UInt8(b.c)", "let a = Int64(f(b))", "let a = \"\\(Int(b))\"",
            "let a = Int(\"1\")",
        ],
        .call: [
            "a.removeFirst()", "a.removeFirst(b)", "_ = a.removeLast()", "a.remove(at: b)", "a.insert(b, at: c)",
            "let a = b.prefix(c)", "let a = b.dropFirst(c)", "let a = repeatElement(0, count: b)",
            "let a = Array(repeating: 0, count: b)", "let a = b.index(after: c)",
        ],
    ]

    /// Code that looks like a violation but is allowed.
    private static let harmless = [
        // forced
        "let a = !b", "let a = b != c", "if !f(), !b {}", "let a = \"b!\"", "// let a = b!",
        "/* a! /* b! */ c! */ let a = b",
        "let a = #\"\\(b!)\"#", "/// `try!`",
        // subscripts
        "let a: [Int] = [b]", "let a = [UInt8]()", "func f(_ a: [B]) -> [C]", "let a = b[at: c]", "let a = b[in: c]",
        "let a = b[\"c\"]", "let a = b[.c]", "let a = b[...]", "let a = { [weak self] in b }", "f([b])",
        "var places: [Key: Int]; let a = places[b]", "private var tallies = EachRole(0); let a = tallies[b]",
        // arithmetic
        "let a = b &+ c", "a &+= 1", "let a = b / 2", "let a = b % 8", "let a = 1 << 20 - 1", "let a = 5 + 4",
        "let a = b + [c]", "let a = \"b\" + c", "let a = -1", "let a = b << c", "let a = b - min(b, c)",
        "let a = b.c - min(d, b.c)", "static let a = b * c", "func + (a: B, c: D)", "func f() -> B", "let a: (B) -> C",
        "var bytes: [UInt8]; bytes += more", "var rate: Double; let a = 2 * rate", "let a = b / Double(c)",
        // ranges
        "let a = 0..<4", "let a = 0...Self.most", "for place in 0..<list.count {}", "let a = UInt8.min ... .max",
        "case UInt8(ascii: \"a\")...UInt8(ascii: \"z\"): b", "case 1...: b",
        // conversions
        "let a = Int(clamping: b)", "let a = UInt8(truncatingIfNeeded: b)", "let a = Int64(exactly: b)",
        "let a = UInt8(ascii: \"b\")",
        "let a = Int(b, radix: 10)", "let a = UInt64(Int64.max)", "let a = Int16(-1)", "let a = UInt8(0x80)",
        "let a = Double(b)",
        // calls
        "let a = b.prefix(3)", "let a = b.dropFirst()", "let a = b.prefix { c }", "let a = b.prefix(while: c)",
        "let a = b.dropFirst(c.count)", "let a = b.prefix(Self.most)", "a.insert(b)", "a.remove(b)", "a.popFirst()",
        "let a = repeatElement(0, count: max(0, b))", "func removeFirst(_ a: B)",
    ]

    @Test("what may trap is found", arguments: TrapScanner.Rule.allCases)
    func finds(_ rule: TrapScanner.Rule) throws {
        for line in try #require(Self.violations[rule]) {
            let source = "let before = 0\n    \(line)\n"
            let findings = TrapScanner.findings(in: source, of: Set(TrapScanner.Rule.allCases))
            #expect(findings == [TrapScanner.Finding(rule: rule, line: 2, text: line)], "\(line)")
        }
    }

    @Test("what does not trap is left alone", arguments: harmless)
    func allows(_ line: String) {
        #expect(TrapScanner.findings(in: line, of: Set(TrapScanner.Rule.allCases)) == [])
    }

    @Test("only the rules that are asked for count")
    func selects() {
        #expect(TrapScanner.findings(in: "let a = b! + c[d]", of: [.subscript]).map(\.rule) == [.subscript])
    }

    @Test("code is told from comments and text of several lines")
    func lines() {
        let source = """
            /* a!
               b! */
            let c = \"""
                d! \\(e! + 1) "f!"
                \"""
            // g!
            let h = i[0]  // j!
            """
        let findings = TrapScanner.findings(in: source, of: Set(TrapScanner.Rule.allCases))
        #expect(findings.map(\.rule) == [.forced, .arithmetic, .subscript])
        #expect(findings.map(\.line) == [4, 4, 7])
    }
}
