/// Finds code in Swift source that may end the process, judged by words and signs only: it does not know types.
enum TrapScanner {
    enum Rule: String, CaseIterable, Comparable {
        /// `!` after a value or a type, `try!`, `as!`.
        case forced
        /// `precondition`, `assert`, `fatalError` and the like, `unowned`, and dictionaries whose keys must differ.
        case asserted
        /// Pointers and accesses through them, which are not checked at all.
        case unchecked
        /// A subscript. Allowed are labels, string literals, members' names, and names that the file declares as
        /// dictionaries.
        case `subscript`
        /// `+ - * / %` and their assignments, which overflow or divide by zero. `&+`, `&-`, `&*` and literal divisors
        /// are allowed.
        case arithmetic
        /// A range whose bounds may be in the wrong order.
        case range
        /// A conversion to an integer that may not fit. `clamping`, `exactly`, `truncatingIfNeeded` and the like are
        /// allowed.
        case conversion
        /// A call that needs a valid place or count, such as `removeFirst` or `prefix`.
        case call

        static func < (one: Rule, other: Rule) -> Bool { one.rawValue < other.rawValue }
    }

    struct Finding: Equatable {
        let rule: Rule
        /// The line number, from 1.
        let line: Int
        /// The line without its indentation.
        let text: String
    }

    /// Returns the violations of `rules` in `source`, in source order.
    static func findings(in source: String, of rules: Set<Rule>) -> [Finding] {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        let scan = TrapScan(SourceTokens.all(of: source))
        return scan.findings.filter { rules.contains($0.rule) }.map { rule, line in
            Finding(rule: rule, line: line, text: String(lines[line - 1].drop { $0 == " " }))
        }
    }
}
