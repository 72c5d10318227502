import CInput
package import Gamepads

/// The events of the pointer and the mouse. A value.
package struct UinputPointer: Sendable {
    /// The units of a notch of the wheel, which are also its pixels.
    private static let notch = 120.0

    /// The parts of a pixel that relative motion has left.
    private var motion = (x: 0.0, y: 0.0)
    /// The parts of a unit and of a notch that the wheel has left.
    private var wheel = (x: Wheel(), y: Wheel())

    package init() {}

    private struct Wheel: Sendable {
        var units = 0.0
        var notches = 0.0

        /// Turns the wheel, and returns the whole units and the whole notches of it.
        mutating func turn(_ distance: Double) -> (units: Int32, notches: Int32) {
            units += distance
            let whole = units.rounded(.towardZero)
            units -= whole
            notches += whole
            let turned = (notches / UinputPointer.notch).rounded(.towardZero)
            notches -= turned * UinputPointer.notch
            return (Int32(exactly: whole) ?? 0, Int32(exactly: turned) ?? 0)
        }
    }

    /// Returns the pointer's events that move it to a place, as fractions of the screen.
    package func move(to place: InputPlace) -> [InputEvent] {
        [
            InputEvent(EV_ABS, ABS_X, UinputDevices.value(place.x)),
            InputEvent(EV_ABS, ABS_Y, UinputDevices.value(place.y)), .report,
        ]
    }

    /// Returns the mouse's events that move the pointer by whole pixels; none for less than one.
    package mutating func move(dx: Double, dy: Double) -> [InputEvent] {
        let (x, y) = (motion.x + dx, motion.y + dy)
        let whole = (x: x.rounded(.towardZero), y: y.rounded(.towardZero))
        motion = (x - whole.x, y - whole.y)
        return Self.reported([(REL_X, Int32(exactly: whole.x) ?? 0), (REL_Y, Int32(exactly: whole.y) ?? 0)])
    }

    /// Returns the pointer's events of a button.
    package func button(_ code: UInt16, isDown: Bool) -> [InputEvent] {
        [InputEvent(EV_KEY, Int32(code), isDown ? 1 : 0), .report]
    }

    /// Returns the pointer's events that turn the wheel: in 120ths of a notch, and in notches for programs that know no
    /// less.
    package mutating func scroll(dx: Double, dy: Double) -> [InputEvent] {
        // The kernel's vertical wheel is positive upwards.
        let (x, y) = (wheel.x.turn(dx), wheel.y.turn(-dy))
        return Self.reported([
            (REL_HWHEEL_HI_RES, x.units), (REL_HWHEEL, x.notches), (REL_WHEEL_HI_RES, y.units), (REL_WHEEL, y.notches),
        ])
    }

    /// Returns relative events that are not 0, with a report if there is one.
    private static func reported(_ values: [(Int32, Int32)]) -> [InputEvent] {
        let events = values.filter { $0.1 != 0 }.map { InputEvent(EV_REL, $0.0, $0.1) }
        return events.isEmpty ? [] : events + [.report]
    }
}
