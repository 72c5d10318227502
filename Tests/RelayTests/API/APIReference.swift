import HeliographAPI

/// The generated tables of docs/reference/api.md.
enum APIReference {
    /// Each table's name, as in its marks in the page, and the function that makes its text from the present one.
    static var tables: [(name: String, make: (Substring) -> String)] {
        [("routes", { _ in routes }), ("problems", { problems(keeping: $0) })]
    }

    /// All calls at their main addresses, linked to the sections that explain them.
    private static var routes: String {
        SettingReference.table(
            ["call", "alias", "role or right", ""],
            Routes.all.map { route in
                [
                    "[`\(route.method.rawValue) \(route.path)`](#\(route.tag.rawValue))",
                    route.alias.map { "`\($0)`" } ?? "", route.callers, route.summary,
                ]
            }
        )
    }

    /// Returns the table of all error codes, by status.
    ///
    /// - Parameter table: The table of the page. Its explanations are kept; a code that it lacks gets its title.
    private static func problems(keeping table: Substring) -> String {
        var explanations: [String: String] = [:]
        for line in table.split(separator: "\n") {
            guard let row = line.wholeMatch(of: /\| [0-9]+ \| `([a-z_]+)` \| (.+) \|/) else { continue }
            explanations[String(row.output.1)] = String(row.output.2)
        }
        let codes = ProblemCode.allCases.sorted { ($0.status, $0.rawValue) < ($1.status, $1.rawValue) }
        return SettingReference.table(
            ["status", "code", "when"],
            codes.map { ["\($0.status)", "`\($0.rawValue)`", explanations[$0.rawValue] ?? "\($0.title)."] }
        )
    }
}
