/// Decides when a frame is ready to leave.
///
/// - A frame that arrives less than a quarter of an interval before its slot, or later, is ready at once.
/// - An earlier frame of a source at most as fast as the slots is ready at once, too. The slots move towards it if
///   they can. If they cannot move far enough, its frames wait, and one of them makes room for the next.
/// - An earlier frame of a faster source is ready when its slot is due. If the source's pace allows a newer frame up to
///   an eighth of an interval later, it waits for that one, and is shown anyway if none comes.
///
/// So the newest content may be delayed but is never lost: it leaves within 9/8 of an interval.
package struct DueTimeGate: Sendable {
    /// How many frames in a row wait before one makes room for the next.
    private static let mostWaits = 32
    /// After this many regular gaps in a row, a shorter gap marks the end of a delay rather than jitter.
    private static let mostRegularGaps = 8
    /// The fewest frames between two that make room because they caught up. More often would cost frame rate.
    private static let framesBetweenCatchUps = 256

    /// How soon a frame can follow another, in ns: the shortest recent gap.
    ///
    /// It falls at once and rises slowly. So a source that skips some of the screen's refreshes is known by those that
    /// it does not skip.
    private var pace: UInt64
    private let learnsPace: Bool
    /// Mean of recent inter-frame gaps, each capped at one interval, in ns.
    private var meanGap: UInt64 = 0
    private var lastGap: UInt64 = 0
    /// Whether the last gap was a pause, of more than two intervals.
    private var followsPause = false
    /// The number of gaps in the mean, at most 16, so that a new gap always counts at least a sixteenth.
    private var gapCount: UInt64 = 0
    private var lastArrival: UInt64?
    /// How many of the last gaps in a row were one interval long, plus or minus a quarter.
    private var regularGaps = 0
    /// How many frames have come since one made room because it caught up, at most ``framesBetweenCatchUps``.
    private var framesSinceCatchUp = DueTimeGate.framesBetweenCatchUps
    /// How many frames in a row came more than a sixteenth of an interval before they could leave, and the wait of the
    /// first, in ns.
    private var waits = (count: 0, first: UInt64(0))
    /// When the next slot should be due if the last frame makes room for the next one, which then leaves as it arrives;
    /// `nil` if it makes no room.
    ///
    /// The slots move back towards this time if they can. Otherwise each frame of a source with the slots' rate would
    /// wait as long as this one.
    package private(set) var room: UInt64?

    /// - Parameter pace: How soon a frame can follow another, in ns. With `nil`, the gate learns it from the arrivals,
    ///   and waits until it has learnt it.
    package init(pace: UInt64? = nil) {
        self.pace = pace ?? 0
        learnsPace = pace == nil
    }

    /// Records that a frame arrived at `arrival` (monotonic ns).
    package mutating func frameArrived(at arrival: UInt64, clock: SlotClock) {
        guard learnsPace else { return }
        room = nil
        framesSinceCatchUp = min(framesSinceCatchUp + 1, Self.framesBetweenCatchUps)
        var catchesUp = false
        if let lastArrival {
            let wholeGap = arrival - min(arrival, lastArrival)
            // A longer gap, such as a pause, only shows that nothing came within an interval.
            let gap = min(wholeGap, clock.interval())
            let isShort = gap < clock.interval(3, over: 4)
            catchesUp =
                isShort && regularGaps == Self.mostRegularGaps && framesSinceCatchUp == Self.framesBetweenCatchUps
            regularGaps =
                isShort || wholeGap > clock.interval(5, over: 4) ? 0 : min(regularGaps + 1, Self.mostRegularGaps)
            // After a pause, one change often makes two frames: the pointer's, then a program's. Only a third one shows
            // that the source is fast.
            if !followsPause || !isShort {
                pace = gap < pace ? gap : pace + (gap - pace) / 8
                gapCount = min(gapCount + 1, 16)
                meanGap = (meanGap * (gapCount - 1) + gap) / gapCount
                lastGap = gap
            }
            followsPause = wholeGap > clock.interval(2)
            if wholeGap > clock.interval(3, over: 2) { waits.count = 0 }
        }
        lastArrival = arrival
        // A frame whose slot was taken has to wait for the next slot.
        guard let due = clock.due, !clock.isTakenOnDemand, isNoFaster(than: clock) else { return waits.count = 0 }
        count(soonest(arrival: arrival, due: due, clock: clock) - arrival, catchesUp: catchesUp, clock: clock)
        guard waits.count == Self.mostWaits else { return }
        waits.count = 0
        if catchesUp { framesSinceCatchUp = 0 }
        // After a frame that has caught up, each frame again comes a little later than the one before, up to half an
        // interval.
        room = arrival + (catchesUp ? clock.interval(9, over: 8) : clock.interval(3, over: 4))
    }

    /// Counts a frame that waits for `wait` ns.
    ///
    /// Two kinds of waits make room at once, because the next frames would repeat them: a wait of half an interval, and
    /// one of an eighth that has caught up with frames that each came a little later than the one before.
    private mutating func count(_ wait: UInt64, catchesUp: Bool, clock: SlotClock) {
        guard wait > clock.interval(over: 16) else { return waits.count = 0 }
        guard wait < clock.interval(over: catchesUp ? 8 : 2) else { return waits.count = Self.mostWaits }
        // The waits of a slower source, after a repeat, become shorter without help.
        let lasts = waits.count > 0 && wait + clock.interval(over: 64) >= waits.first
        waits = lasts ? (waits.count + 1, waits.first) : (1, wait)
    }

    /// Records that the slots' rate has changed, so that the waits recorded so far no longer count.
    package mutating func rateChanged() {
        room = nil
        waits.count = 0
        regularGaps = 0
    }

    /// Returns when a frame of a source no faster than the slots can leave, if the slots move towards it.
    private func soonest(arrival: UInt64, due: UInt64, clock: SlotClock) -> UInt64 {
        max(arrival, due - min(due, clock.earliness + clock.headroom))
    }

    /// Returns when a frame that arrived at `arrival` is ready, in monotonic ns.
    package func readyTime(arrival: UInt64, clock: SlotClock) -> UInt64 {
        guard let due = clock.due else { return arrival }
        if arrival + clock.earliness >= due { return arrival }
        // This matters if the previous picture left ahead of its slot, because this slot is then more than an interval
        // away.
        let oldest = arrival + clock.interval(9, over: 8)
        let latest = min(due + clock.interval(over: 8), oldest)
        if isNoFaster(than: clock) {
            // A frame whose slot was taken makes room for the next one.
            if clock.isTakenOnDemand { return min(oldest, due + clock.interval(over: 2)) }
            return room != nil ? oldest : min(soonest(arrival: arrival, due: due, clock: clock), oldest)
        }
        return arrival + pace <= latest ? latest : min(due, latest)
    }

    /// Returns whether the source is known to bring no more frames than there are slots.
    private func isNoFaster(than clock: SlotClock) -> Bool {
        gapCount >= 8 && meanGap >= clock.interval(7, over: 8) && lastGap >= clock.interval(3, over: 8)
    }
}
