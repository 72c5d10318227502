/// Decides when a frame is ready to leave.
///
/// A frame that arrives less than a quarter of an interval before its slot, or later, is ready at once. So is an earlier one of a source that is no faster than
/// the slots, which then move towards it as far as they can; where that leaves its frames to wait, one of them makes room for the next. One of a faster source is
/// ready when its slot is due, or an eighth of an interval later where the source's pace lets a fresher one come by then; if none does, this one is shown all the
/// same. So the newest content may be delayed but is never lost: it leaves within 9/8 of an interval.
package struct DueTimeGate: Sendable {
    /// How many frames in a row wait before one makes room for the next.
    private static let mostWaits = 32
    /// How many regular gaps in a row make a shorter one behind them the end of a delay, and no jitter.
    private static let mostRegularGaps = 8
    /// How many frames after one that made room because it caught up another does so at the earliest: more often would cost the rate.
    private static let framesBetweenCatchUps = 256

    /// How soon a frame can follow another, ns: the shortest recent gap. It falls at once and rises slowly, so that sources
    /// which leave out some of a screen's refreshes are known by those that they do not leave out.
    private var pace: UInt64
    private let learnsPace: Bool
    /// The mean of recent gaps between frames, of which none counts more than an interval, ns.
    private var meanGap: UInt64 = 0
    private var lastGap: UInt64 = 0
    /// How many gaps the mean is made of; no more than a new one is to count a part of.
    private var gapCount: UInt64 = 0
    private var lastArrival: UInt64?
    /// How many of the last gaps in a row were an interval, give or take a quarter.
    private var regularGaps = 0
    /// How many frames have come since one made room because it caught up; no more than another takes.
    private var framesSinceCatchUp = DueTimeGate.framesBetweenCatchUps
    /// How many frames in a row have come more than a sixteenth of an interval before they could leave, and how long before the first of them did, ns.
    private var waits = (count: 0, first: UInt64(0))
    /// When the next slot is to be due, as far as the slots move back, if the frame that arrived last makes room for the next one, which then leaves as it
    /// arrives: else each frame of a source of the slots' rate would wait as long as this one. Nil where it makes none.
    package private(set) var room: UInt64?

    /// - Parameter pace: How soon a frame can follow another, ns. Nil where the arrivals are to tell; the gate
    ///   then waits until they have told.
    package init(pace: UInt64? = nil) {
        self.pace = pace ?? 0
        learnsPace = pace == nil
    }

    /// Notes that a frame arrived at `arrival`, monotonic ns.
    package mutating func frameArrived(at arrival: UInt64, clock: SlotClock) {
        guard learnsPace else { return }
        room = nil
        framesSinceCatchUp = min(framesSinceCatchUp + 1, Self.framesBetweenCatchUps)
        var catchesUp = false
        if let lastArrival {
            let wholeGap = arrival - min(arrival, lastArrival)
            // A longer gap, such as a pause, says no more than that nothing came within an interval.
            let gap = min(wholeGap, clock.interval())
            let isShort = gap < clock.interval(3, over: 4)
            catchesUp =
                isShort && regularGaps == Self.mostRegularGaps && framesSinceCatchUp == Self.framesBetweenCatchUps
            regularGaps =
                isShort || wholeGap > clock.interval(5, over: 4) ? 0 : min(regularGaps + 1, Self.mostRegularGaps)
            pace = gap < pace ? gap : pace + (gap - pace) / 8
            gapCount = min(gapCount + 1, 16)
            meanGap = (meanGap * (gapCount - 1) + gap) / gapCount
            lastGap = gap
            if wholeGap > clock.interval(3, over: 2) { waits.count = 0 }
        }
        lastArrival = arrival
        // The frame whose slot was taken waits for that.
        guard let due = clock.due, !clock.isTakenOnDemand, isNoFaster(than: clock) else { return waits.count = 0 }
        count(soonest(arrival: arrival, due: due, clock: clock) - arrival, catchesUp: catchesUp, clock: clock)
        guard waits.count == Self.mostWaits else { return }
        waits.count = 0
        if catchesUp { framesSinceCatchUp = 0 }
        // Behind one that has caught up each comes a little later than the one before, up to half an interval, as those before it did.
        room = arrival + (catchesUp ? clock.interval(9, over: 8) : clock.interval(3, over: 4))
    }

    /// Counts a frame that waits for `wait`, ns. One that waits for half an interval counts as many, and so does one for an eighth that has caught up with
    /// frames of which each came a little later than the one before: the others would do so again and again.
    private mutating func count(_ wait: UInt64, catchesUp: Bool, clock: SlotClock) {
        guard wait > clock.interval(over: 16) else { return waits.count = 0 }
        guard wait < clock.interval(over: catchesUp ? 8 : 2) else { return waits.count = Self.mostWaits }
        // The waits of a slower source, behind a repeat, become less by themselves.
        let lasts = waits.count > 0 && wait + clock.interval(over: 64) >= waits.first
        waits = lasts ? (waits.count + 1, waits.first) : (1, wait)
    }

    /// Notes that the slots have another rate: what was known of frames' waits were those for others.
    package mutating func rateChanged() {
        room = nil
        waits.count = 0
        regularGaps = 0
    }

    /// When a frame of a source no faster than the slots can leave, if these move towards it.
    private func soonest(arrival: UInt64, due: UInt64, clock: SlotClock) -> UInt64 {
        max(arrival, due - min(due, clock.earliness + clock.headroom))
    }

    /// When a frame that arrived at `arrival` is ready, monotonic ns.
    package func readyTime(arrival: UInt64, clock: SlotClock) -> UInt64 {
        guard let due = clock.due else { return arrival }
        if arrival + clock.earliness >= due { return arrival }
        // Counts when the picture before left ahead of its slot: this slot is then more than an interval away.
        let oldest = arrival + clock.interval(9, over: 8)
        let latest = min(due + clock.interval(over: 8), oldest)
        if isNoFaster(than: clock) {
            // The frame whose slot was taken makes room for the next one.
            if clock.isTakenOnDemand { return min(oldest, due + clock.interval(over: 2)) }
            return room != nil ? oldest : min(soonest(arrival: arrival, due: due, clock: clock), oldest)
        }
        return arrival + pace <= latest ? latest : min(due, latest)
    }

    /// Whether the source is known to bring no more frames than there are slots.
    private func isNoFaster(than clock: SlotClock) -> Bool {
        gapCount >= 8 && meanGap >= clock.interval(7, over: 8) && lastGap >= clock.interval(3, over: 8)
    }
}
