/// The output slots of a session: slot `k` is due at `anchor + k / fps`, exactly.
///
/// Times are monotonic ns. Rational arithmetic keeps 1/3 of a nanosecond a slot from growing into a drift.
package struct SlotClock: Sendable {
    private static let second: UInt64 = 1_000_000_000

    /// Slots per second, 1 to 240.
    package private(set) var fps: UInt64
    private var anchor: UInt64?
    private var index: UInt64 = 0
    /// The last slot that was taken or passed over.
    private var last: UInt64?

    package init(fps: Int) {
        precondition(fps > 0, "a session has at least one slot per second")
        self.fps = UInt64(fps)
    }

    /// When the next slot is due; nil before the first sequence began.
    package var due: UInt64? { anchor.map { $0 + index * Self.second / fps } }

    /// `numerator / denominator` of the interval between slots, ns, rounded down.
    package func interval(_ numerator: UInt64 = 1, over denominator: UInt64 = 1) -> UInt64 {
        numerator * Self.second / (fps * denominator)
    }

    /// How late a picture may be for its slot, ns.
    ///
    /// It may be a quarter of an interval early. The two make one interval, so any `n` pictures leave over at least `n - 2`.
    private var tolerance: UInt64 { interval(3, over: 4) }

    /// Whether a picture that leaves at `now` is too late for the next slot, or none was ever due.
    package func isOver(at now: UInt64) -> Bool {
        due.map { now > $0 + tolerance } ?? true
    }

    /// Begins a new sequence, whose first slot is due at `time`; the last sequence's next slot has to be over by then.
    package mutating func begin(at time: UInt64) {
        anchor = time
        index = 0
    }

    /// Takes the next slot and returns its time. A sequence has begun.
    package mutating func takeSlot() -> UInt64 {
        guard let slot = due else { preconditionFailure("the first slot follows begin(at:)") }
        last = slot
        index += 1
        return slot
    }

    /// Passes over the slots that a picture that leaves at `now` is too late for. Returns how many.
    ///
    /// What was not output in time is not made up for: a stall is not followed by a burst.
    package mutating func passOver(at now: UInt64) -> UInt64 {
        let first = index
        while due != nil, isOver(at: now) {
            last = due
            index += 1
        }
        return index - first
    }

    /// Goes on with another rate at `now`: the next slot is due an interval of the new rate after the last one.
    ///
    /// Where that is past already, it is due at once: the new rate owes nothing for the time before it. A slot that was due
    /// stays due, as far as the new rate admits a picture that late.
    package mutating func changeRate(fps: Int, at now: UInt64) {
        precondition(fps > 0, "a session has at least one slot per second")
        let due = due
        self.fps = UInt64(fps)
        guard let due, let last else { return }
        begin(at: max(last + interval(), min(due, now), now - min(now, tolerance)))
    }
}
