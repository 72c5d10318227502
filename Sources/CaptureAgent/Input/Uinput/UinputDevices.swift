import CInput
package import Gamepads

/// The virtual devices for acting on a desktop by uinput.
package enum UinputDevices {
    /// The largest value of an axis. An axis has 65,536 places, the screen's edges are at 0 and after the last one.
    static let last: Int32 = 65535
    /// The most fingers.
    package static let fingers = 10

    private static let buttons = Array(BTN_LEFT...BTN_TASK)

    /// A pointer at places of the screen, with buttons and a wheel, as virtual machines have.
    package static var pointer: UinputDevice {
        var device = described("pointer", product: 1, keys: buttons)
        device.motions = [REL_WHEEL, REL_HWHEEL, REL_WHEEL_HI_RES, REL_HWHEEL_HI_RES]
        device.axes = [UinputDevice.Axis(ABS_X, 0...last), UinputDevice.Axis(ABS_Y, 0...last)]
        return device
    }

    /// A mouse for relative motion, which desktops do not take from a pointer at places.
    package static var mouse: UinputDevice {
        var device = described("mouse", product: 2, keys: buttons)
        device.motions = [REL_X, REL_Y]
        return device
    }

    /// A keyboard with all codes that X has keycodes for.
    package static var keyboard: UinputDevice { described("keyboard", product: 3, keys: Array(KEY_ESC...247)) }

    /// A touch screen, protocol B of Documentation/input/multi-touch-protocol.rst of the kernel.
    package static var touchScreen: UinputDevice {
        var device = described("touch screen", product: 4, keys: [BTN_TOUCH])
        device.axes = [
            UinputDevice.Axis(ABS_X, 0...last), UinputDevice.Axis(ABS_Y, 0...last),
            UinputDevice.Axis(ABS_MT_SLOT, 0...Int32(fingers - 1)),
            UinputDevice.Axis(ABS_MT_TRACKING_ID, 0...UinputTouch.lastContact),
            UinputDevice.Axis(ABS_MT_POSITION_X, 0...last), UinputDevice.Axis(ABS_MT_POSITION_Y, 0...last),
            UinputDevice.Axis(ABS_MT_TOOL_TYPE, Int32(MT_TOOL_FINGER)...Int32(MT_TOOL_PALM)),
        ]
        device.properties = [INPUT_PROP_DIRECT]
        return device
    }

    private static func described(_ name: String, product: UInt16, keys: [Int32]) -> UinputDevice {
        UinputDevice(name: "Heliograph \(name)", bus: BUS_VIRTUAL, vendor: 0, product: product, version: 1, keys: keys)
    }

    /// Returns the value of an axis for a fraction of the screen.
    static func value(_ fraction: Double) -> Int32 {
        // Compared first, because a number that is too large would trap.
        fraction < 1 ? Int32(max(0, fraction) * Double(last + 1)) : last
    }
}
