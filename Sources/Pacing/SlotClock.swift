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
    package private(set) var last: UInt64?
    /// When the next picture leaves at the earliest if the last ones are not to be too many, plus an interval: each picture moves it on by an
    /// interval from when it left, or from where it is if that is later (the virtual scheduling of ITU-T I.371, annex A).
    private var paidUntil: UInt64 = 0
    /// Whether the last slot was taken on demand: then the frame that it would have shown is still to come.
    package private(set) var isTakenOnDemand = false

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
    /// It may be ``earliness`` early. The two make one interval, so any `n` pictures leave over at least `n - 2`.
    private var tolerance: UInt64 { interval(3, over: 4) }

    /// How early a picture may be for its slot, ns.
    package var earliness: UInt64 { interval(over: 4) }

    /// Whether a picture that leaves at `now` is too late for the next slot, or none was ever due.
    package func isOver(at now: UInt64) -> Bool {
        due.map { now > $0 + tolerance } ?? true
    }

    /// Begins a new sequence, whose first slot is due at `time`; the last sequence's next slot has to be over by then.
    package mutating func begin(at time: UInt64) {
        anchor = time
        index = 0
    }

    /// Begins the first sequence with a frame that arrived at `arrival` and leaves at `now`: in step with the source's next frames, if they come as
    /// fast as the slots. The first slot is due a quarter of an interval before `now` at the earliest, so that the picture costs little of the
    /// slack that later ones may need, and not before `start`.
    package mutating func begin(inStepWith arrival: UInt64, at now: UInt64, from start: UInt64) {
        // Such a source is not that fast.
        guard arrival + interval(2) > now else { return begin(at: now) }
        let earliest = max(now - min(now, earliness), min(start, now))
        let wait = earliest - min(earliest, arrival)
        begin(at: arrival + (wait + interval() - 1) / interval() * interval())
    }

    /// How far the slots can move ahead for the next picture, ns: as far as the pictures that have left allow, so that any `n` of them still
    /// leave over at least `n - 2` intervals, and half an interval at most. None behind a picture on demand: what it took is to come back.
    package var headroom: UInt64 {
        guard let due, !isTakenOnDemand else { return 0 }
        let latest = due + tolerance
        return min(latest - min(latest, paidUntil), interval(over: 2), due)
    }

    /// When a picture can take the next slot at the earliest without moving it: an interval before it, and only so that any `n` pictures leave over
    /// at least `n - 2` intervals.
    package var earliest: UInt64 {
        let latest = max(paidUntil, due ?? 0)
        return latest - min(latest, interval())
    }

    /// Takes the next slot for a picture that leaves at `now`, and returns the slot's time. A sequence has begun.
    ///
    /// For a picture that is more than a quarter of an interval early the slots move ahead until it is no more than that: at most
    /// by ``headroom``.
    ///
    /// - Parameter onDemand: Whether the picture leaves early because somebody waits for it. Then no slot moves.
    package mutating func takeSlot(at now: UInt64, onDemand: Bool = false) -> UInt64 {
        guard let due else { preconditionFailure("the first slot follows begin(at:)") }
        let slot = onDemand ? due : max(min(due, now + earliness), due - headroom)
        if slot < due { begin(at: slot) }
        isTakenOnDemand = onDemand
        last = slot
        index += 1
        // Rounded up, or the nanoseconds' fractions would add up to an advance.
        paidUntil = max(paidUntil, now) + interval() + 1
        return slot
    }

    /// Moves the slots back until the next one is due at `time`, or nearly half an interval later than before if that is sooner; where it is due later already
    /// they stay.
    package mutating func moveBack(to time: UInt64) {
        if let due, due < time { begin(at: min(time, due + interval(31, over: 64))) }
    }

    /// How many slots from the next one on are due by `time`.
    package func slots(dueBy time: UInt64) -> UInt64 {
        guard let due, due <= time else { return 0 }
        let (product, overflows) = (time - due).multipliedReportingOverflow(by: fps)
        return overflows ? 0 : product / Self.second + 1
    }

    /// Gives up the next `count` slots, which somebody else has passed over or filled at most half an interval late.
    package mutating func skip(_ count: UInt64) {
        guard count > 0 else { return }
        isTakenOnDemand = false
        index += count - 1
        last = due
        index += 1
        if let last { paidUntil = max(paidUntil, last + interval(3, over: 2)) }
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
