/// One thing that broadcasting a screen needs, and whether it is there: what `capture-agent --diagnose` writes and `heliograph doctor` shows.
package struct Finding: Sendable, Equatable, Codable {
    package enum Verdict: String, Sendable, Codable {
        /// It is as it has to be.
        case ok
        /// Broadcasts work, with less than there could be, or after somebody has done something.
        case warning
        /// Broadcasts fail.
        case failure
    }

    private enum CodingKeys: CodingKey {
        case check, verdict, statement, advice
    }

    /// What was looked at, a word for programs. docs/doctor.md lists them.
    package var check: String
    package var verdict: Verdict
    /// What was found, for a person.
    package var statement: String
    /// What to do about it, for a person; nil where there is nothing to do.
    package var advice: String?

    package init(_ check: String, _ verdict: Verdict, _ statement: String, advice: String? = nil) {
        self.check = check
        self.verdict = verdict
        self.statement = statement
        self.advice = advice
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(check, forKey: .check)
        try container.encode(verdict, forKey: .verdict)
        try container.encode(statement, forKey: .statement)
        // Null too: readers find every field.
        try container.encode(advice, forKey: .advice)
    }
}
