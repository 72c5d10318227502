/// Decides when a frame is ready to leave.
///
/// A frame that arrives less than a quarter of an interval before its slot, or later, is ready at once. So is an earlier one of a source that is no faster than
/// the slots, which then move towards it as far as they can; where that leaves it half an interval to wait it makes room for the next one. One of a faster source is ready when its slot is due, or an eighth of an interval
/// later where the source's pace lets a fresher one come by then; if none does, this one is shown all the same. So the newest content may be
/// delayed but is never lost: it leaves within 9/8 of an interval.
package struct DueTimeGate: Sendable {
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

    /// - Parameter pace: How soon a frame can follow another, ns. Nil where the arrivals are to tell; the gate
    ///   then waits until they have told.
    package init(pace: UInt64? = nil) {
        self.pace = pace ?? 0
        learnsPace = pace == nil
    }

    /// Notes that a frame arrived at `arrival`, monotonic ns.
    package mutating func frameArrived(at arrival: UInt64, clock: SlotClock) {
        guard learnsPace else { return }
        if let lastArrival {
            // A longer gap, such as a pause, says no more than that nothing came within an interval.
            let gap = min(arrival - min(arrival, lastArrival), clock.interval())
            pace = gap < pace ? gap : pace + (gap - pace) / 8
            gapCount = min(gapCount + 1, 16)
            meanGap = (meanGap * (gapCount - 1) + gap) / gapCount
            lastGap = gap
        }
        lastArrival = arrival
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
            let soonest = max(arrival, due - min(due, clock.earliness + clock.headroom))
            // It would wait for long, and so would all that follow, each a little longer where the source is a little faster. The next one comes in time for this
            // slot, and then none has to wait.
            if soonest - arrival >= clock.interval(over: 2), arrival + meanGap <= due + clock.interval(over: 4) {
                return min(due + clock.interval(3, over: 8), oldest)
            }
            return min(soonest, latest)
        }
        return arrival + pace <= latest ? latest : min(due, latest)
    }

    /// Whether the source is known to bring no more frames than there are slots.
    private func isNoFaster(than clock: SlotClock) -> Bool {
        gapCount >= 8 && meanGap >= clock.interval(7, over: 8) && lastGap >= clock.interval(3, over: 8)
    }
}
