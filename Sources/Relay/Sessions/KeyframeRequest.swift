import NIOCore

/// The keyframe request that a session has pending with one agent. It serves all callers.
struct KeyframeRequest: Sendable {
    /// Least time between requests to the agent.
    private static let interval = TimeAmount.milliseconds(500)
    /// How often an unanswered request is sent before it is given up.
    private static let attempts = 10

    private(set) var pending: UInt32?
    private var attempts = 0
    private var lastSent: NIODeadline?
    /// When the pending request began; `nil` if none is pending.
    private(set) var since: NIODeadline?
    /// All ids requested from this agent since ``reset()``.
    private var asked: ClosedRange<UInt32>?

    /// Asks under a new id. ``due(now:)`` says when to send it.
    mutating func ask(_ id: UInt32, now: NIODeadline) {
        pending = id
        attempts = 0
        since = since ?? now
        asked = (asked?.lowerBound ?? id)...id
    }

    /// Returns the id to send to the agent now, or `nil` if nothing is due.
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
    /// - Returns: Whether that id was requested since ``reset()``.
    mutating func answered(by id: UInt32) -> Bool {
        guard let asked, asked.contains(id) else { return false }
        // This also answers a request that was given up.
        if id >= pending ?? 0 {
            pending = nil
            since = nil
        }
        return true
    }

    /// Forgets all requests: later answers to them do not count.
    mutating func reset() { self = KeyframeRequest() }
}
