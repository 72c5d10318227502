/// Decides when the last picture is output again because the screen is static.
package struct StaticFrameRepeater: Sendable {
    /// Whether the session wants repeats.
    private let isOn: Bool
    /// Whether there is a picture to repeat.
    package var hasPicture = false

    package init(isOn: Bool) {
        self.isOn = isOn
    }

    /// Whether every slot gets a picture, live or repeated.
    package var fillsSlots: Bool { isOn && hasPicture }

    /// Returns when a repeat takes the next slot if no frame has come: half an interval after it is due; `nil` for
    /// never.
    package func repeatTime(clock: SlotClock) -> UInt64? {
        guard fillsSlots, let due = clock.due else { return nil }
        return due + clock.interval(over: 2)
    }

    /// Returns when a picture that is wanted from `demand` on takes the next slot; `nil` for never.
    ///
    /// It may be ahead of the slot, if the pictures before it allow that.
    package func demandedTime(_ demand: UInt64?, clock: SlotClock) -> UInt64? {
        guard let demand, hasPicture, clock.due != nil else { return nil }
        return max(demand, clock.earliest)
    }
}
