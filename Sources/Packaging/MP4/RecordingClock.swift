/// Computes the end of a recording that is stopped, on the clock of its pictures, from arrival times on the recorder's
/// clock.
///
/// The picture with the shortest delay shows best how the clocks relate, so late pictures do not shorten the recording.
package struct RecordingClock: Sendable {
    /// The first picture's PTS, in µs.
    package private(set) var first: Int64?
    /// The last picture's PTS, in µs.
    package private(set) var last: Int64 = 0
    /// PTS minus arrival of the picture with the shortest delay, in µs.
    private var offset: Int64 = .min

    package init() {}

    /// Records that a picture has arrived.
    ///
    /// - Parameters:
    ///   - pts: In µs; increasing.
    ///   - now: The recorder's clock, in µs.
    package mutating func take(pts: Int64, now: Int64) {
        first = first ?? pts
        last = pts
        let (difference, overflow) = pts.subtractingReportingOverflow(now)
        if !overflow { offset = max(offset, difference) }
    }

    /// Returns the PTS that a picture arriving now would have; later than the last picture's.
    package func end(now: Int64) -> Int64 {
        let (end, overflow) = now.addingReportingOverflow(offset)
        return max(overflow ? last : end, last + 1)
    }
}
