package import NIOCore

/// A relay that takes nobody new and ends when those who watch have gone.
package struct Drain: Sendable {
    /// How long it lives at least: who asked for the drain gets the answer.
    package static let shortest = TimeAmount.milliseconds(500)

    private let began: NIODeadline
    /// When it ends in any case; nil for never.
    package let deadline: NIODeadline?

    package init(now: NIODeadline, timeout: TimeAmount?) {
        began = now
        deadline = timeout.map { now + $0 }
    }

    package func isOver(viewers: Int, now: NIODeadline) -> Bool {
        guard now - began >= Self.shortest else { return false }
        return viewers == 0 || deadline.map { now >= $0 } ?? false
    }
}
