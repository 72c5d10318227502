import CInput
package import Wire

/// An Xbox 360 pad as uinput's requests and events, with the codes and ranges of the kernel's driver xpad.
package enum XboxReport {
    static let name = "Microsoft X-Box 360 pad"
    static let (vendor, product, version): (UInt16, UInt16, UInt16) = (0x045E, 0x028E, 0x0110)
    /// The most effects that applications may have at a time.
    package static let effectLimit: UInt32 = 16

    /// The device that uinput makes.
    package static var device: UinputDevice {
        var device = UinputDevice(
            name: name,
            bus: BUS_USB,
            vendor: vendor,
            product: product,
            version: version,
            keys: ButtonCodes.xpad.table.map { Int32($0.code) }
        )
        device.axes =
            [ABS_X, ABS_Y, ABS_RX, ABS_RY].map { UinputDevice.Axis($0, -32768...32767, fuzz: 16, flat: 128) }
            + [ABS_Z, ABS_RZ].map { UinputDevice.Axis($0, 0...255) }
            + [ABS_HAT0X, ABS_HAT0Y].map { UinputDevice.Axis($0, -1...1) }
        device.effects = [FF_RUMBLE, FF_GAIN]
        device.effectLimit = effectLimit
        return device
    }

    /// Returns the events of a whole state. The kernel passes on only what has changed.
    package static func events(_ state: GamepadState) -> [InputEvent] {
        let buttons = state.buttons
        var events = ButtonCodes.xpad.table.map { button, code in
            InputEvent(EV_KEY, Int32(code), buttons.contains(button) ? 1 : 0)
        }
        let values: [(Int32, Int32)] = [
            (ABS_X, Int32(state.leftStick.x)), (ABS_Y, Int32(state.leftStick.y)),
            (ABS_RX, Int32(state.rightStick.x)), (ABS_RY, Int32(state.rightStick.y)),
            (ABS_Z, trigger(state.leftTrigger, buttons.contains(.leftTrigger))),
            (ABS_RZ, trigger(state.rightTrigger, buttons.contains(.rightTrigger))),
            (ABS_HAT0X, hat(buttons, .left, .right)), (ABS_HAT0Y, hat(buttons, .up, .down)),
        ]
        events += values.map { InputEvent(EV_ABS, $0, $1) }
        return events + [.report]
    }

    /// A trigger that was only pressed as a button is pulled.
    private static func trigger(_ value: UInt8, _ isPressed: Bool) -> Int32 {
        value == 0 && isPressed ? 255 : Int32(value)
    }

    private static func hat(
        _ buttons: GamepadState.Buttons,
        _ negative: GamepadState.Buttons,
        _ positive: GamepadState.Buttons
    ) -> Int32 {
        (buttons.contains(positive) ? 1 : 0) - (buttons.contains(negative) ? 1 : 0)
    }
}
