/// Finds what in Swift source may end the process, as far as words and signs tell: it does not know types.
enum TrapScanner {
    enum Rule: String, CaseIterable, Comparable {
        /// `!` behind a value or a type, `try!`, `as!`.
        case forced
        /// `precondition`, `assert`, `fatalError` and the like, `unowned`, and dictionaries whose keys must differ.
        case asserted
        /// Pointers, and reads or writes by them: what they do is not checked at all.
        case unchecked
        /// A subscript. Labels, string literals, members' names and what the file declares as a dictionary are allowed.
        case `subscript`
        /// `+ - * / %` and their assignments, which overflow or divide by zero. `&+`, `&-`, `&*` and literal divisors are allowed.
        case arithmetic
        /// A range whose bounds may be the wrong way round.
        case range
        /// A conversion to an integer that may not fit. `clamping`, `exactly`, `truncatingIfNeeded` and the like are allowed.
        case conversion
        /// A call that needs a valid place or count, such as `removeFirst` or `prefix`.
        case call

        static func < (one: Rule, other: Rule) -> Bool { one.rawValue < other.rawValue }
    }

    struct Finding: Equatable {
        let rule: Rule
        /// Counted from 1.
        let line: Int
        /// The line without its indentation.
        let text: String
    }

    /// Returns what breaks `rules` in `source`, in its order.
    static func findings(in source: String, of rules: Set<Rule>) -> [Finding] {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        let scan = TrapScan(SourceTokens.all(of: source))
        return scan.findings.filter { rules.contains($0.rule) }.map { rule, line in
            Finding(rule: rule, line: line, text: String(lines[line - 1].drop { $0 == " " }))
        }
    }
}
