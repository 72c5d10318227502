/// Decides when the last picture is output again because the screen is static.
package struct StaticFrameRepeater: Sendable {
    /// Whether the session wants repeats.
    private let isOn: Bool
    /// Whether there is a picture to repeat.
    package var hasPicture = false

    package init(isOn: Bool) {
        self.isOn = isOn
    }

    /// Whether every slot is to have a picture, live or not.
    package var fillsSlots: Bool { isOn && hasPicture }

    /// When a repeat takes the next slot if no frame has come by then: half an interval after it is due. Nil for never.
    package func repeatTime(clock: SlotClock) -> UInt64? {
        guard fillsSlots, let due = clock.due else { return nil }
        return due + clock.interval(over: 2)
    }

    /// When a picture that is wanted from `demand` on takes the next slot: ahead of it, as far as the pictures before allow. Nil for never.
    package func demandedTime(_ demand: UInt64?, clock: SlotClock) -> UInt64? {
        guard let demand, hasPicture, clock.due != nil else { return nil }
        return max(demand, clock.earliest)
    }
}
