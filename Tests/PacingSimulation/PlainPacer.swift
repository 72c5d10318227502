package import Pacing

/// The simplest pacing, for comparison: a due time in whole milliseconds, and frames before it are dropped.
package struct PlainPacer: SimulatedPacer {
    /// The due time, in ms.
    private let interval: UInt64
    private var due: UInt64 = 0
    package let missed: UInt64 = 0
    private var waiting: (frame: Int, slot: UInt64)?

    package init(fps: Int) {
        interval = 1_000 / UInt64(fps)
    }

    package mutating func offer(_ frame: Int, at now: UInt64) -> Int? {
        let milliseconds = now / 1_000_000
        guard milliseconds >= due else { return frame }
        due += interval
        if due <= milliseconds { due = milliseconds + interval }
        defer { waiting = (frame, now) }
        return waiting?.frame
    }

    package mutating func next(at now: UInt64, demandTime: UInt64?) -> PacingDecision<Int> {
        guard let (frame, slot) = waiting else { return .wait(until: nil) }
        waiting = nil
        return .encode(frame, slot: slot)
    }

    package mutating func finish(_ outcome: PictureOutcome, started: UInt64, at now: UInt64) {}
}
