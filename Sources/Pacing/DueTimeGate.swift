/// Decides when a frame is ready to leave.
///
/// A frame that arrives less than a quarter of an interval before its slot, or later, is ready at once. So is an earlier one of a source that is no faster than
/// the slots, which then move towards it as far as they can; where that leaves its frames to wait, one of them makes room for the next. One of a faster source is
/// ready when its slot is due, or an eighth of an interval later where the source's pace lets a fresher one come by then; if none does, this one is shown all the
/// same. So the newest content may be delayed but is never lost: it leaves within 9/8 of an interval.
package struct DueTimeGate: Sendable {
    /// How many frames in a row wait before one makes room for the next.
    private static let mostWaits = 32

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
    /// How many frames in a row have come more than a sixteenth of an interval before they could leave, and how long before the first of them did, ns.
    private var waits = (count: 0, first: UInt64(0))
    /// Whether the frame that arrived last makes room for the next one, which leaves as it arrives where its slot is due by then and no more than
    /// half an interval before: else each frame of a source of the slots' rate would wait as long as this one.
    package private(set) var makesRoom = false

    /// - Parameter pace: How soon a frame can follow another, ns. Nil where the arrivals are to tell; the gate
    ///   then waits until they have told.
    package init(pace: UInt64? = nil) {
        self.pace = pace ?? 0
        learnsPace = pace == nil
    }

    /// Notes that a frame arrived at `arrival`, monotonic ns.
    package mutating func frameArrived(at arrival: UInt64, clock: SlotClock) {
        guard learnsPace else { return }
        makesRoom = false
        if let lastArrival {
            // A longer gap, such as a pause, says no more than that nothing came within an interval.
            let gap = min(arrival - min(arrival, lastArrival), clock.interval())
            pace = gap < pace ? gap : pace + (gap - pace) / 8
            gapCount = min(gapCount + 1, 16)
            meanGap = (meanGap * (gapCount - 1) + gap) / gapCount
            lastGap = gap
            if arrival > lastArrival + clock.interval(3, over: 2) { waits.count = 0 }
        }
        lastArrival = arrival
        // The frame whose slot was taken waits for that.
        guard let due = clock.due, !clock.isTakenOnDemand, isNoFaster(than: clock) else { return waits.count = 0 }
        count(soonest(arrival: arrival, due: due, clock: clock) - arrival, clock: clock)
        makesRoom = waits.count == Self.mostWaits
        if makesRoom { waits.count = 0 }
    }

    /// Counts a frame that waits for `wait`, ns. One that waits for half an interval counts as many.
    private mutating func count(_ wait: UInt64, clock: SlotClock) {
        guard wait > clock.interval(over: 16) else { return waits.count = 0 }
        guard wait < clock.interval(over: 2) else { return waits.count = Self.mostWaits }
        // The waits of a slower source, behind a repeat, become less by themselves.
        let lasts = waits.count > 0 && wait + clock.interval(over: 64) >= waits.first
        waits = lasts ? (waits.count + 1, waits.first) : (1, wait)
    }

    /// Notes that the slots have another rate: what was known of frames' waits were those for others.
    package mutating func rateChanged() {
        makesRoom = false
        waits.count = 0
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
            return makesRoom ? oldest : min(soonest(arrival: arrival, due: due, clock: clock), oldest)
        }
        return arrival + pace <= latest ? latest : min(due, latest)
    }

    /// Whether the source is known to bring no more frames than there are slots.
    private func isNoFaster(than clock: SlotClock) -> Bool {
        gapCount >= 8 && meanGap >= clock.interval(7, over: 8) && lastGap >= clock.interval(3, over: 8)
    }
}
