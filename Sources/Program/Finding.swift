/// The result of one check for broadcasting a screen, which `capture-agent --diagnose` writes and `heliograph doctor`
/// shows.
package struct Finding: Sendable, Equatable, Codable {
    package enum Verdict: String, Sendable, Codable {
        /// Everything is as required.
        case ok
        /// Broadcasts work, but with limits or only after a manual step.
        case warning
        /// Broadcasts fail.
        case failure
    }

    private enum CodingKeys: CodingKey {
        case check, verdict, statement, advice
    }

    /// The check's name, for programs. docs/reference/doctor.md lists the names.
    package var check: String
    package var verdict: Verdict
    /// What was found, for people.
    package var statement: String
    /// What to do, for people; `nil` if nothing needs to be done.
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
        // Also encodes null, so that readers find every field.
        try container.encode(advice, forKey: .advice)
    }
}
