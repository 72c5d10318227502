package import NIOCore

/// Ends a session that nobody watches or asks about.
package struct IdleLimit: Sendable {
    /// nil for no limit.
    private let limit: TimeAmount?
    private var lastUse: NIODeadline

    package init(limit: TimeAmount?, now: NIODeadline) {
        self.limit = limit
        lastUse = now
    }

    package mutating func used(now: NIODeadline) { lastUse = now }

    package func isOver(now: NIODeadline) -> Bool { limit.map { now - lastUse >= $0 } ?? false }
}
