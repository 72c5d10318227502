import CInput
package import Gamepads
package import Wire

/// The events of the touch screen. A value.
///
/// Each finger has a slot while it is down, and each contact an id of its own. Programs that know one finger see the
/// one that came first, as ABS_X, ABS_Y and BTN_TOUCH.
package struct UinputTouch: Sendable {
    /// The largest id of a contact. After it comes 0.
    static let lastContact: Int32 = 65535

    /// The fingers that are down by their slots.
    private var slots = [UInt8?](repeating: nil, count: UinputDevices.fingers)
    /// The slots of the fingers that are down, in the order in which they came.
    private var order: [Int] = []
    private var contact: Int32 = 0

    package init() {}

    /// Returns the events of a finger; none if a finger goes up that is not down, or down that is.
    ///
    /// - Throws: `unsupported`, if too many fingers are down.
    package mutating func touch(
        _ id: UInt8,
        _ phase: InputStep.TouchPhase,
        at place: InputPlace
    ) throws(InputFailure) -> [InputEvent] {
        let slot = slots.firstIndex(of: id)
        switch phase {
        case .down:
            guard slot == nil else { return [] }
            guard let free = slots.firstIndex(of: nil) else {
                throw .unsupported("The touch screen knows \(UinputDevices.fingers) fingers at a time.")
            }
            slots[free] = id
            order.append(free)
            defer { contact = contact == Self.lastContact ? 0 : contact + 1 }
            var events = Self.slot(free, (ABS_MT_TRACKING_ID, contact), (ABS_MT_TOOL_TYPE, Int32(MT_TOOL_FINGER)))
            if order.count == 1 { events.append(InputEvent(EV_KEY, BTN_TOUCH, 1)) }
            return events + position(free, place) + [.report]
        case .move:
            guard let slot else { return [] }
            return Self.slot(slot) + position(slot, place) + [.report]
        case .up:
            guard let slot else { return [] }
            return lift(slot)
        case .cancel:
            guard let slot else { return [] }
            // Desktops take a finger away that turns out to be a palm.
            return Self.slot(slot, (ABS_MT_TOOL_TYPE, Int32(MT_TOOL_PALM))) + [.report] + lift(slot)
        }
    }

    private mutating func lift(_ slot: Int) -> [InputEvent] {
        slots[slot] = nil
        order.removeAll { $0 == slot }
        var events = Self.slot(slot, (ABS_MT_TRACKING_ID, -1))
        if order.isEmpty { events.append(InputEvent(EV_KEY, BTN_TOUCH, 0)) }
        return events + [.report]
    }

    private func position(_ slot: Int, _ place: InputPlace) -> [InputEvent] {
        let (x, y) = (UinputDevices.value(place.x), UinputDevices.value(place.y))
        let events = [InputEvent(EV_ABS, ABS_MT_POSITION_X, x), InputEvent(EV_ABS, ABS_MT_POSITION_Y, y)]
        guard slot == order.first else { return events }
        return events + [InputEvent(EV_ABS, ABS_X, x), InputEvent(EV_ABS, ABS_Y, y)]
    }

    private static func slot(_ slot: Int, _ values: (Int32, Int32)...) -> [InputEvent] {
        [InputEvent(EV_ABS, ABS_MT_SLOT, Int32(slot))] + values.map { InputEvent(EV_ABS, $0.0, $0.1) }
    }
}
