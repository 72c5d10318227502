import CInput
package import Wire

/// The codes of gamepad buttons in events.
package enum ButtonCodes: Sendable {
    /// By position, as Documentation/input/gamepad.rst of the kernel says: BTN_NORTH is the upper button.
    case positions
    /// As the driver xpad of Xbox pads says: BTN_X (BTN_NORTH) is the left button, BTN_Y (BTN_WEST) the upper one.
    case xpad

    /// The buttons that both have, with their codes.
    package var table: [(GamepadState.Buttons, code: UInt16)] {
        let (left, upper) = self == .positions ? (BTN_WEST, BTN_NORTH) : (BTN_NORTH, BTN_WEST)
        let table: [(GamepadState.Buttons, Int32)] = [
            (.south, BTN_SOUTH), (.east, BTN_EAST), (.west, left), (.north, upper), (.leftShoulder, BTN_TL),
            (.rightShoulder, BTN_TR), (.select, BTN_SELECT), (.start, BTN_START), (.home, BTN_MODE),
            (.leftStick, BTN_THUMBL), (.rightStick, BTN_THUMBR),
        ]
        return table.map { ($0, UInt16(truncatingIfNeeded: $1)) }
    }
}
