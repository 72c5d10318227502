/// When a recording that is stopped ends, on the clock of its pictures, which are told on the recorder's clock as they arrive.
///
/// The picture that came quickest tells best how the clocks lie to each other, so that pictures that were late make no recording shorter.
package struct RecordingClock: Sendable {
    /// The first picture's PTS, µs.
    package private(set) var first: Int64?
    /// The last picture's.
    package private(set) var last: Int64 = 0
    /// PTS less arrival of the picture that came quickest.
    private var offset: Int64 = .min

    package init() {}

    /// A picture has arrived.
    ///
    /// - Parameters:
    ///   - pts: µs; increases.
    ///   - now: The recorder's clock, µs.
    package mutating func take(pts: Int64, now: Int64) {
        first = first ?? pts
        last = pts
        let (difference, overflow) = pts.subtractingReportingOverflow(now)
        if !overflow { offset = max(offset, difference) }
    }

    /// The PTS that a picture would have that arrives now; behind the last one's.
    package func end(now: Int64) -> Int64 {
        let (end, overflow) = now.addingReportingOverflow(offset)
        return max(overflow ? last : end, last + 1)
    }
}
