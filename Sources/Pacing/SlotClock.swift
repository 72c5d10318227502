/// The output slots of a session: slot `k` is due at exactly `anchor + k / fps` seconds.
///
/// Times are monotonic ns. Rational arithmetic keeps a third of a nanosecond per slot from growing into drift.
package struct SlotClock: Sendable {
    private static let second: UInt64 = 1_000_000_000

    /// Slots per second, 1 to 240.
    package private(set) var fps: UInt64
    private var anchor: UInt64?
    private var index: UInt64 = 0
    /// The last slot that was taken or passed over.
    package private(set) var last: UInt64?
    /// The earliest time for the next picture that keeps the recent ones within the rate, plus one interval.
    ///
    /// Each picture moves it on by one interval, from the time the picture left or from its old value, whichever is
    /// later. This is the virtual scheduling of ITU-T I.371, annex A.
    private var paidUntil: UInt64 = 0
    /// Whether the last slot was taken on demand. Then the frame that it would have shown is still to come.
    package private(set) var isTakenOnDemand = false

    package init(fps: Int) {
        precondition(fps > 0, "a session has at least one slot per second")
        self.fps = UInt64(fps)
    }

    /// When the next slot is due; `nil` before the first sequence.
    package var due: UInt64? { anchor.map { $0 + index * Self.second / fps } }

    /// Returns `numerator / denominator` of the interval between slots, in ns, rounded down.
    package func interval(_ numerator: UInt64 = 1, over denominator: UInt64 = 1) -> UInt64 {
        numerator * Self.second / (fps * denominator)
    }

    /// How late a picture may be for its slot, in ns.
    ///
    /// It may be ``earliness`` early. Together they make one interval, so any `n` pictures leave over at least `n - 2`
    /// intervals.
    private var tolerance: UInt64 { interval(3, over: 4) }

    /// How early a picture may be for its slot, in ns.
    package var earliness: UInt64 { interval(over: 4) }

    /// Returns whether a picture that leaves at `now` is too late for the next slot, or whether no slot was ever due.
    package func isOver(at now: UInt64) -> Bool {
        due.map { now > $0 + tolerance } ?? true
    }

    /// Starts a new sequence whose first slot is due at `time`. By then the next slot of the last sequence must be
    /// over.
    package mutating func begin(at time: UInt64) {
        anchor = time
        index = 0
    }

    /// Starts the first sequence with a frame that arrived at `arrival` and leaves at `now`.
    ///
    /// The slots are in step with the source's next frames, if those come as fast as the slots. The first slot is due
    /// not before `start`. It is due at most a quarter of an interval before `now`, so that the picture uses little of
    /// the slack that later ones may need.
    package mutating func begin(inStepWith arrival: UInt64, at now: UInt64, from start: UInt64) {
        // The source is slower than the slots.
        guard arrival + interval(2) > now else { return begin(at: now) }
        let earliest = max(now - min(now, earliness), min(start, now))
        let wait = earliest - min(earliest, arrival)
        begin(at: arrival + (wait + interval() - 1) / interval() * interval())
    }

    /// How far the slots can move ahead for the next picture, in ns, at most half an interval.
    ///
    /// Any `n` pictures must still leave over at least `n - 2` intervals. After a picture on demand it is 0, because
    /// the slot that was taken must be made up for.
    package var headroom: UInt64 {
        guard let due, !isTakenOnDemand else { return 0 }
        let latest = due + tolerance
        return min(latest - min(latest, paidUntil), interval(over: 2), due)
    }

    /// The earliest time at which a picture can take the next slot without moving it.
    ///
    /// It is one interval before the slot, or later if any `n` pictures would otherwise leave over less than `n - 2`
    /// intervals.
    package var earliest: UInt64 {
        let latest = max(paidUntil, due ?? 0)
        return latest - min(latest, interval())
    }

    /// Takes the next slot for a picture that leaves at `now`. A sequence must have begun.
    ///
    /// If the picture is more than a quarter of an interval early, the slots move ahead until it is a quarter early,
    /// but at most by ``headroom``.
    ///
    /// - Parameter onDemand: Whether the picture leaves early because a keyframe is wanted. Then no slot moves.
    /// - Returns: The slot's time.
    package mutating func takeSlot(at now: UInt64, onDemand: Bool = false) -> UInt64 {
        guard let due else { preconditionFailure("the first slot follows begin(at:)") }
        let slot = onDemand ? due : max(min(due, now + earliness), due - headroom)
        if slot < due { begin(at: slot) }
        isTakenOnDemand = onDemand
        last = slot
        index += 1
        // Rounded up, because fractions of a nanosecond would otherwise add up to an advance.
        paidUntil = max(paidUntil, now) + interval() + 1
        return slot
    }

    /// Moves the slots back until the next one is due at `time`, but by less than half an interval. Slots that are due
    /// later stay.
    package mutating func moveBack(to time: UInt64) {
        if let due, due < time { begin(at: min(time, due + interval(31, over: 64))) }
    }

    /// Returns how many slots, counted from the next one, are due by `time`.
    package func slots(dueBy time: UInt64) -> UInt64 {
        guard let due, due <= time else { return 0 }
        let (product, overflows) = (time - due).multipliedReportingOverflow(by: fps)
        return overflows ? 0 : product / Self.second + 1
    }

    /// Passes over the next `count` slots, which the relay has passed over or filled at most half an interval late.
    package mutating func skip(_ count: UInt64) {
        guard count > 0 else { return }
        isTakenOnDemand = false
        index += count - 1
        last = due
        index += 1
        if let last { paidUntil = max(paidUntil, last + interval(3, over: 2)) }
    }

    /// Passes over the slots for which a picture that leaves at `now` is too late.
    ///
    /// Missed slots are not made up for: a stall is not followed by a burst.
    ///
    /// - Returns: The number of slots.
    package mutating func passOver(at now: UInt64) -> UInt64 {
        let first = index
        while due != nil, isOver(at: now) {
            last = due
            index += 1
        }
        return index - first
    }

    /// Continues with another rate at `now`: the next slot is due one interval of the new rate after the last one.
    ///
    /// If that time is past, the slot is due at once, because the new rate does not apply to the time before it. A slot
    /// that was due stays due, if the new rate admits a picture that late.
    package mutating func changeRate(fps: Int, at now: UInt64) {
        precondition(fps > 0, "a session has at least one slot per second")
        let due = due
        self.fps = UInt64(fps)
        guard let due, let last else { return }
        begin(at: max(last + interval(), min(due, now), now - min(now, tolerance)))
    }
}
