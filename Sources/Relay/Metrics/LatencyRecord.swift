package import Media
package import NIOCore

/// How long something took since the session began, and lately.
package struct LatencyRecord: Sendable {
    package private(set) var histogram = LatencyHistogram()
    private var window = LatencyWindow()

    package init() {}

    package mutating func add(_ nanoseconds: UInt64, now: NIODeadline) {
        histogram.add(nanoseconds)
        window.add(nanoseconds, now: now)
    }

    /// Of the last 10 to 20 s; nil when there was none.
    package func percentiles(now: NIODeadline) -> LatencyWindow.Percentiles? { window.percentiles(now: now) }
}
