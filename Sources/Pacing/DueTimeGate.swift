/// Decides when a frame is ready to leave.
///
/// A frame that arrives less than a quarter of an interval before its slot, or later, is ready at once. An earlier one is
/// ready when its slot is due, or an eighth of an interval later where the source's pace lets a fresher one come by then; if
/// none does, this one is shown all the same. So the newest content may be delayed but is never lost: it leaves within 9/8 of
/// an interval.
package struct DueTimeGate: Sendable {
    /// How soon a frame can follow another, ns: the shortest recent gap. It falls at once and rises slowly, so that sources
    /// which leave out some of a screen's refreshes are known by those that they do not leave out.
    private var pace: UInt64
    private let learnsPace: Bool
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
        }
        lastArrival = arrival
    }

    /// When a frame that arrived at `arrival` is ready, monotonic ns.
    package func readyTime(arrival: UInt64, clock: SlotClock) -> UInt64 {
        guard let due = clock.due else { return arrival }
        if arrival + clock.interval(over: 4) >= due { return arrival }
        // The second bound counts when the picture before left ahead of its slot: this slot is then more than an interval away.
        let latest = min(due + clock.interval(over: 8), arrival + clock.interval(9, over: 8))
        return arrival + pace <= latest ? latest : min(due, latest)
    }
}
