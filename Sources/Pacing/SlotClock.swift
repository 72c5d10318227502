/// The output slots of a session: slot `k` is due at `anchor + k / fps`, exactly.
///
/// Times are monotonic ns. Rational arithmetic keeps 1/3 of a nanosecond a slot from growing into a drift.
package struct SlotClock: Sendable {
    private static let second: UInt64 = 1_000_000_000

    /// Slots per second, 1 to 240.
    package private(set) var fps: UInt64
    private var anchor: UInt64?
    private var index: UInt64 = 0
    /// The last slot that was taken or given up.
    private var last: UInt64?

    package init(fps: Int) {
        precondition(fps > 0, "a session has at least one slot per second")
        self.fps = UInt64(fps)
    }

    /// When the next slot is due; nil before the first slot was taken.
    package var due: UInt64? { anchor.map { $0 + index * Self.second / fps } }

    /// `numerator / denominator` of the interval between slots, ns, rounded down.
    package func interval(_ numerator: UInt64 = 1, over denominator: UInt64 = 1) -> UInt64 {
        numerator * Self.second / (fps * denominator)
    }

    /// Takes the next slot for a picture that leaves at `now` and returns the slot's time.
    ///
    /// The first picture makes its own slot. So does one that leaves more than an interval late: a stall is not
    /// followed by a burst.
    package mutating func takeSlot(at now: UInt64) -> UInt64 {
        guard let due, now <= due + interval() else {
            anchor = now
            index = 1
            last = now
            return now
        }
        index += 1
        last = due
        return due
    }

    /// Goes on with another rate at `now`: the next slot is due an interval of the new rate after the last one.
    ///
    /// Where that is past already, it is due at once (or stays due, if it was): the new rate owes nothing for the time
    /// before it.
    package mutating func changeRate(fps: Int, at now: UInt64) {
        precondition(fps > 0, "a session has at least one slot per second")
        let due = due
        self.fps = UInt64(fps)
        guard let due, let last else { return }
        anchor = max(last + interval(), min(due, now))
        index = 0
    }

    /// Gives the next slot up.
    package mutating func forfeitSlot() {
        last = due
        index += 1
    }
}
