import NIOCore

/// The keyframe request that a session has in flight to one agent. One that is in flight serves everyone.
struct FormerKeyframeRequest {
    /// Least time between requests to the agent.
    private static let interval = TimeAmount.milliseconds(500)
    /// How often an unanswered request is sent before it is given up.
    private static let attempts = 10

    private(set) var pending: UInt32?
    private var attempts = 0
    private var lastSent: NIODeadline?
    /// Since when an answer is awaited.
    private(set) var since: NIODeadline?
    /// All ids that this agent was asked for since ``reset()``.
    private var asked: ClosedRange<UInt32>?

    /// Asks under a new id. ``due(now:)`` says when to send it.
    mutating func ask(_ id: UInt32, now: NIODeadline) {
        pending = id
        attempts = 0
        since = since ?? now
        asked = (asked?.lowerBound ?? id)...id
    }

    /// The id to send to the agent now, nil for none.
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

    /// Takes note of a keyframe that carries `id`. Returns whether it was asked for since ``reset()``.
    mutating func answered(by id: UInt32) -> Bool {
        guard let asked, asked.contains(id) else { return false }
        // One that was given up is answered as well.
        if id >= pending ?? 0 {
            pending = nil
            since = nil
        }
        return true
    }

    /// Forgets all requests: their answers count no more.
    mutating func reset() { self = FormerKeyframeRequest() }
}
