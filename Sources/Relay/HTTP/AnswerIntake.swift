/// Whether the client of a connection takes its answers.
struct AnswerIntake: Sendable {
    /// Bytes that it had taken at the last look; `nil` if none waited for it.
    private var taken: Int64?

    /// Returns whether it has taken nothing since the last look, although bytes wait for it.
    ///
    /// - Parameters:
    ///   - given: All bytes of answers that the connection was given.
    ///   - unsent: Those that it has not taken.
    mutating func stops(given: Int64, unsent: Int) -> Bool {
        let former = taken
        taken = unsent > 0 ? given - Int64(unsent) : nil
        guard let former, let taken else { return false }
        return taken <= former
    }

    /// Makes the next look the first one.
    mutating func restart() { taken = nil }
}
