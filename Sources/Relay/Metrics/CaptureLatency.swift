package import Media

/// How long a session's pictures take from their capture to the relay.
///
/// Each captured frame counts once: neither its repeats nor its picture in another size, and none that was captured before the session began.
package struct CaptureLatency: Sendable {
    package private(set) var histogram = LatencyHistogram()
    /// When the newest frame so far was captured, monotonic ns.
    private var newest: UInt64

    /// - Parameter start: When the session began, monotonic ns.
    package init(since start: UInt64) {
        newest = start
    }

    /// Takes in a picture that arrived at `now`, monotonic ns.
    package mutating func take(_ accessUnit: AccessUnit, now: UInt64) {
        let captured = accessUnit.captured
        guard !accessUnit.flags.contains(.repeat), captured > newest else { return }
        // A stamp ahead of the clock counts as no time, and must not outrank all that follow.
        newest = min(captured, now)
        histogram.add(now - newest)
    }
}
