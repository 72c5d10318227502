import Wire

/// Sessions that have been told to end, and may be at their last picture still.
struct EndingSessions: Sendable {
    private var sessions: [(id: SessionID, ended: Completion)] = []

    /// Adds one, and forgets those that are done.
    mutating func add(_ session: SessionPipeline) {
        sessions.removeAll { $0.ended.isSet }
        sessions.append((session.id, session.ended))
    }

    /// Tells when the last one of that id is done; nil if there is none.
    func last(_ id: SessionID) -> Completion? { sessions.last { $0.id == id }?.ended }

    /// Tell when they are done.
    var ends: [Completion] { sessions.map(\.ended) }
}
