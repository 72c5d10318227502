package import NIOCore

/// The delays before an agent that exited is started again. They double, and reset after a healthy period.
package struct RestartBackoff: Sendable {
    /// The lengths of the delays.
    package struct Policy: Sendable {
        package var first = TimeAmount.milliseconds(100)
        package var longest = TimeAmount.seconds(5)
        /// How long a broadcast must be live to count as recovered.
        package var healthyAfter = TimeAmount.seconds(10)

        package init() {}

        package init(first: TimeAmount, longest: TimeAmount) {
            self.init()
            (self.first, self.longest) = (first, longest)
        }
    }

    private let policy: Policy
    private var next: TimeAmount

    package init(policy: Policy) {
        self.policy = policy
        next = policy.first
    }

    /// Returns the delay before the next start.
    package mutating func delay() -> TimeAmount {
        defer { next = min(next * 2, policy.longest) }
        return next
    }

    /// Records that the broadcast was live from `start` to `end`.
    package mutating func wasLive(from start: NIODeadline, to end: NIODeadline) {
        if end - start >= policy.healthyAfter { next = policy.first }
    }
}
