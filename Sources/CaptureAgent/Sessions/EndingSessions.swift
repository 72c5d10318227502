import Wire

/// Sessions that have been told to end, and may be at their last picture still.
struct EndingSessions: Sendable {
    /// A session that takes longer than this to end hangs in its encoder.
    private static let longestEnd: UInt64 = .milliseconds(10_000)

    private var sessions: [(id: SessionID, since: UInt64, ended: Completion)] = []

    /// Adds one, and forgets those that are done.
    ///
    /// - Parameters:
    ///   - ended: Tells when it is done.
    ///   - now: When it was told to end; monotonic, ns.
    mutating func add(_ id: SessionID, ended: Completion, now: UInt64) {
        sessions.removeAll { $0.ended.isSet }
        sessions.append((id, now, ended))
    }

    /// One that hangs; nil where there is none.
    ///
    /// - Parameter now: Monotonic, ns.
    func hung(now: UInt64) -> SessionID? {
        sessions.first { !$0.ended.isSet && now > $0.since && now - $0.since >= Self.longestEnd }?.id
    }

    /// Tells when the last one of that id is done; nil if there is none.
    func last(_ id: SessionID) -> Completion? { sessions.last { $0.id == id }?.ended }

    /// Tell when they are done.
    var ends: [Completion] { sessions.map(\.ended) }
}
