package import NIOCore

/// How long to wait before an agent that exited is started again: doubling, and from the beginning after a healthy spell.
package struct RestartBackoff: Sendable {
    package struct Policy: Sendable {
        package var first = TimeAmount.milliseconds(100)
        package var longest = TimeAmount.seconds(5)
        /// A broadcast that was live for this long has recovered.
        package var healthyAfter = TimeAmount.seconds(10)

        package init() {}
    }

    private let policy: Policy
    private var next: TimeAmount

    package init(policy: Policy) {
        self.policy = policy
        next = policy.first
    }

    /// The delay before the next start.
    package mutating func delay() -> TimeAmount {
        defer { next = min(next * 2, policy.longest) }
        return next
    }

    /// The broadcast was live from `start` to `end`.
    package mutating func wasLive(from start: NIODeadline, to end: NIODeadline) {
        if end - start >= policy.healthyAfter { next = policy.first }
    }
}
