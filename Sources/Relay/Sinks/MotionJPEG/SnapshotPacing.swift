package import NIOCore

/// Decides when an MJPEG viewer gets its next snapshot.
///
/// While the screen changes, it gets at most a given number per second. While it is static, the last one is repeated.
/// Snapshots are due at multiples of their interval on the clock, so that viewers with the same rate share them.
package struct SnapshotPacing: Sendable {
    /// What a viewer should do next.
    package enum Decision: Sendable, Equatable {
        /// Get a snapshot requested at this instant or later.
        case get(since: NIODeadline)
        case sendAgain
        case wait(until: NIODeadline)
    }

    /// How long until a static screen's picture is repeated, and until the next try after a failure.
    package static let keepAlive = TimeAmount.seconds(1)

    private let interval: TimeAmount
    /// Whether the screen may have changed since the last snapshot was requested.
    package private(set) var isOutdated = true
    /// When the last snapshot was requested.
    private var asked: NIODeadline?
    /// When the last picture was sent, or failed.
    private var done: NIODeadline?
    private var hasFailed = false

    /// Creates the pacing for a viewer.
    ///
    /// - Parameter fps: Snapshots per second, at least 1.
    package init(fps: Int) { interval = .nanoseconds(1_000_000_000 / Int64(clamping: fps)) }

    /// Records that the screen has changed.
    ///
    /// - Returns: Whether this is the first change since the last snapshot.
    package mutating func screenChanged() -> Bool {
        defer { isOutdated = true }
        return !isOutdated
    }

    /// Returns what to do at `now`.
    package func next(now: NIODeadline) -> Decision {
        guard let asked, let done else { return .get(since: now - interval) }
        let again = done + Self.keepAlive
        if hasFailed { return now >= again ? .get(since: now) : .wait(until: again) }
        guard isOutdated else { return now >= again ? .sendAgain : .wait(until: again) }
        let due = slot(after: asked)
        // Half an interval: another viewer's snapshot from the same slot is recent enough.
        return now >= due ? .get(since: now - .nanoseconds(interval.nanoseconds / 2)) : .wait(until: due)
    }

    /// Records that a snapshot is requested.
    package mutating func began(now: NIODeadline) {
        asked = now
        isOutdated = false
    }

    /// Records that a picture is being sent.
    package mutating func sent(now: NIODeadline) { (done, hasFailed) = (now, false) }

    /// Records that no snapshot is available.
    package mutating func failed(now: NIODeadline) { (done, hasFailed) = (now, true) }

    /// Returns the first multiple of the interval after `instant`.
    private func slot(after instant: NIODeadline) -> NIODeadline {
        let interval = UInt64(clamping: interval.nanoseconds)
        return .uptimeNanoseconds((instant.uptimeNanoseconds / interval + 1) * interval)
    }
}
