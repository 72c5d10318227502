import NIOCore

/// The keyframe request of a session that is in flight to one agent. A request in flight serves everyone.
struct FormerKeyframeRequest {
    /// The shortest time between requests to the agent.
    private static let interval = TimeAmount.milliseconds(500)
    /// How often an unanswered request is sent before it is given up.
    private static let attempts = 10

    private(set) var pending: UInt32?
    private var attempts = 0
    private var lastSent: NIODeadline?
    /// Since when an answer is awaited.
    private(set) var since: NIODeadline?
    /// All ids that were requested from this agent since ``reset()``.
    private var asked: ClosedRange<UInt32>?

    /// Starts a request with a new id. ``due(now:)`` says when to send it.
    mutating func ask(_ id: UInt32, now: NIODeadline) {
        pending = id
        attempts = 0
        since = since ?? now
        asked = (asked?.lowerBound ?? id)...id
    }

    /// Returns the id to send to the agent now, or `nil` for none.
    mutating func due(now: NIODeadline) -> UInt32? {
        guard let pending else { return nil }
        if let lastSent, now - lastSent < Self.interval { return nil }
        guard attempts < Self.attempts else {
            self.pending = nil
            return nil
        }
        attempts += 1
        lastSent = now
        return pending
    }

    /// Records a keyframe that carries `id`.
    ///
    /// - Returns: Whether it was requested since ``reset()``.
    mutating func answered(by id: UInt32) -> Bool {
        guard let asked, asked.contains(id) else { return false }
        // It also answers a request that was given up.
        if id >= pending ?? 0 {
            pending = nil
            since = nil
        }
        return true
    }

    /// Forgets all requests, so that their answers no longer count.
    mutating func reset() { self = FormerKeyframeRequest() }
}
