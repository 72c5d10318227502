import Testing

/// Tests that the relay survives whatever an agent, a viewer or a caller sends. docs/design/testing.md has the rules.
@Suite("Traps")
struct TrapTests {
    @Test("code that outside bytes reach has nothing that traps", arguments: LintedCode.all)
    func nothingTraps(in code: LintedCode) throws {
        for file in try code.files {
            for finding in Self.findings(in: try LintedCode.source(of: file), file, code) {
                Issue.record(
                    "Sources/\(file):\(finding.line) may trap in \(code.name) (\(finding.rule)): \(finding.text)"
                )
            }
        }
    }

    @Test("a violation in any such file is found", arguments: LintedCode.all)
    func violationsAreFound(in code: LintedCode) throws {
        let violations = code.rules.sorted().flatMap { rule in
            (TrapScannerTests.violations[rule] ?? []).map { (rule: rule, line: $0) }
        }
        for file in try code.files {
            let source = try LintedCode.source(of: file)
            let found = Self.findings(in: ([source] + violations.map(\.line)).joined(separator: "\n"), file, code)
            #expect(found.map(\.text) == violations.map(\.line), "\(file)")
            #expect(found.map(\.rule) == violations.map(\.rule), "\(file)")
        }
    }

    @Test("each exception is of a line that is there")
    func exceptionsAreNeeded() throws {
        for exception in TrapException.all {
            let codes = try LintedCode.all.filter { try $0.files.contains(exception.file) }
            let rules = codes.reduce(into: Set()) { $0.formUnion($1.rules) }
            let findings = TrapScanner.findings(in: try LintedCode.source(of: exception.file), of: rules)
            #expect(findings.contains { exception.excuses($0, in: exception.file) }, "\(exception)")
        }
    }

    @Test("the lists name code that is there", arguments: LintedCode.all)
    func pathsAreThere(of code: LintedCode) throws {
        let all = Set(try code.paths.flatMap(LintedCode.files(at:)))
        for path in code.paths { #expect(try !LintedCode.files(at: path).isEmpty, "\(path)") }
        for path in code.apart.keys { #expect(all.isSuperset(of: try LintedCode.files(at: path)), "\(path)") }
    }

    /// Returns the violations in a file that are not listed as exceptions.
    private static func findings(
        in source: String,
        _ file: String,
        _ code: LintedCode
    ) -> [TrapScanner.Finding] {
        TrapScanner.findings(in: source, of: code.rules).filter { finding in
            !TrapException.all.contains { $0.excuses(finding, in: file) }
        }
    }
}
