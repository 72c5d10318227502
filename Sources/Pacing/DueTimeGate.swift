/// Decides when a frame is ready to leave.
///
/// A frame that arrives less than a quarter of an interval before its slot, or later, is ready at once. An earlier one is
/// ready an eighth of an interval after the slot is due: a fresher one usually arrives by then, and if none does, this one
/// is shown all the same. So the newest content may be delayed but is never lost: it leaves within 9/8 of an interval.
package enum DueTimeGate {
    /// When a frame that arrived at `arrival` is ready, monotonic ns.
    package static func readyTime(arrival: UInt64, clock: SlotClock) -> UInt64 {
        guard let due = clock.due else { return arrival }
        if arrival + clock.interval(over: 4) >= due { return arrival }
        // The second bound counts when the picture before left ahead of its slot: this slot is then more than an interval away.
        return min(due + clock.interval(over: 8), arrival + clock.interval(9, over: 8))
    }
}
