package import NIOCore

/// When a viewer of MJPEG gets its next snapshot: at most so many a second while the screen changes, the last one again now and then while it does not.
///
/// Snapshots are due at multiples of their interval on the clock, so that viewers of the same rate want them at once and share them.
package struct SnapshotPacing: Sendable {
    package enum Decision: Sendable, Equatable {
        /// Get a snapshot that is asked for at this instant or later.
        case get(since: NIODeadline)
        case sendAgain
        case wait(until: NIODeadline)
    }

    /// After how long a static screen's picture is sent again, and another one is tried for after a failure.
    package static let keepAlive = TimeAmount.seconds(1)

    private let interval: TimeAmount
    /// Whether the screen may have changed since the last snapshot was asked for.
    package private(set) var isOutdated = true
    /// When the last snapshot was asked for.
    private var asked: NIODeadline?
    /// When the last picture was sent, or could not be had.
    private var done: NIODeadline?
    private var hasFailed = false

    /// - Parameter fps: Snapshots per second, at least 1.
    package init(fps: Int) { interval = .nanoseconds(1_000_000_000 / Int64(clamping: fps)) }

    /// The screen has changed.
    ///
    /// - Returns: Whether that is new.
    package mutating func screenChanged() -> Bool {
        defer { isOutdated = true }
        return !isOutdated
    }

    /// What to do at `now`.
    package func next(now: NIODeadline) -> Decision {
        guard let asked, let done else { return .get(since: now - interval) }
        let again = done + Self.keepAlive
        if hasFailed { return now >= again ? .get(since: now) : .wait(until: again) }
        guard isOutdated else { return now >= again ? .sendAgain : .wait(until: again) }
        let due = slot(after: asked)
        // Half an interval: another viewer's snapshot of the same slot will do.
        return now >= due ? .get(since: now - .nanoseconds(interval.nanoseconds / 2)) : .wait(until: due)
    }

    /// A snapshot is asked for.
    package mutating func began(now: NIODeadline) {
        asked = now
        isOutdated = false
    }

    /// A picture is on its way.
    package mutating func sent(now: NIODeadline) { (done, hasFailed) = (now, false) }

    /// There is no snapshot to be had.
    package mutating func failed(now: NIODeadline) { (done, hasFailed) = (now, true) }

    /// The first multiple of the interval after `instant`.
    private func slot(after instant: NIODeadline) -> NIODeadline {
        let interval = UInt64(clamping: interval.nanoseconds)
        return .uptimeNanoseconds((instant.uptimeNanoseconds / interval + 1) * interval)
    }
}
