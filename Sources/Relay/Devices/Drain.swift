package import NIOCore

/// A relay that accepts no new viewers and ends when the current ones have left.
package struct Drain: Sendable {
    /// The least time until it ends, so that the caller who asked for the drain gets the answer.
    package static let shortest = TimeAmount.milliseconds(500)

    private let began: NIODeadline
    /// When it ends even with viewers; `nil` for no limit.
    package let deadline: NIODeadline?

    package init(now: NIODeadline, timeout: TimeAmount?) {
        began = now
        deadline = timeout.map { now + $0 }
    }

    /// Returns whether the relay should end now.
    package func isOver(viewers: Int, now: NIODeadline) -> Bool {
        guard now - began >= Self.shortest else { return false }
        return viewers == 0 || deadline.map { now >= $0 } ?? false
    }
}
