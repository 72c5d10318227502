import Wire

/// Sessions that have been told to end but may still be encoding their last picture.
struct EndingSessions: Sendable {
    /// How long a session may take to end, in ns. A longer time means that its encoder hangs.
    private static let longestEnd: UInt64 = .milliseconds(10_000)

    private var sessions: [(id: SessionID, since: UInt64, ended: Completion)] = []

    /// Adds a session, and forgets those that have ended.
    ///
    /// - Parameters:
    ///   - ended: Set when the session has ended.
    ///   - now: When it was told to end, in monotonic ns.
    mutating func add(_ id: SessionID, ended: Completion, now: UInt64) {
        sessions.removeAll { $0.ended.isSet }
        sessions.append((id, now, ended))
    }

    /// Returns a session that hangs, or `nil` if there is none.
    ///
    /// - Parameter now: The current time, in monotonic ns.
    func hung(now: UInt64) -> SessionID? {
        sessions.first { !$0.ended.isSet && now > $0.since && now - $0.since >= Self.longestEnd }?.id
    }

    /// Returns the completion of the last session with that id, or `nil` if there is none.
    func last(_ id: SessionID) -> Completion? { sessions.last { $0.id == id }?.ended }

    /// The completions of all sessions.
    var ends: [Completion] { sessions.map(\.ended) }
}
