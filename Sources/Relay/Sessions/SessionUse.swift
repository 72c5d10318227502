package import NIOCore

/// Decides whether a session is encoded: always, or while a sink wants its pictures and a little longer.
package struct EncodingDemand: Sendable {
    /// How long a session that encodes on demand continues without a viewer. A viewer that returns soon finds it
    /// running.
    package static let patience = TimeAmount.seconds(5)

    package var onDemand: Bool
    private var lastWatched: NIODeadline?

    package init(onDemand: Bool) { self.onDemand = onDemand }

    package mutating func watched(now: NIODeadline) { lastWatched = now }

    package func isThere(now: NIODeadline) -> Bool {
        !onDemand || lastWatched.map { now - $0 < Self.patience } ?? false
    }
}

/// Ends a session that no caller watches or asks about.
package struct IdleLimit: Sendable {
    /// The time without use; `nil` for no limit.
    var limit: TimeAmount?
    private var lastUse: NIODeadline

    package init(limit: TimeAmount?, now: NIODeadline) {
        self.limit = limit
        lastUse = now
    }

    package mutating func used(now: NIODeadline) { lastUse = now }

    package func isOver(now: NIODeadline) -> Bool { limit.map { now - lastUse >= $0 } ?? false }
}
