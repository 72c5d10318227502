import CInput
package import Wire

/// Turns the events of a gamepad of this machine into states. A pure value.
///
/// It follows Documentation/input/gamepad.rst of the kernel, and knows the axes of Bluetooth Xbox pads.
package struct EvdevPad: Sendable {
    /// The range of an axis.
    package struct Axis: Sendable, Equatable {
        package var minimum: Int32
        package var maximum: Int32

        package init(minimum: Int32, maximum: Int32) { (self.minimum, self.maximum) = (minimum, maximum) }

        /// Returns a value as a fraction of the range, 0 to 1.
        fileprivate func fraction(_ value: Int32) -> Double {
            guard maximum > minimum else { return 0 }
            let share = (Double(value) - Double(minimum)) / (Double(maximum) - Double(minimum))
            return min(max(share, 0), 1)
        }
    }

    package enum Outcome: Sendable, Equatable {
        case nothing
        case state(GamepadState)
        /// Events were lost. Read the device's keys and axes and pass them to ``reset(keys:values:)``.
        case lost
    }

    private enum Role { case leftX, leftY, rightX, rightY, leftTrigger, rightTrigger, hatX, hatY }

    private let axes: [UInt16: Axis]
    private let roles: [UInt16: Role]
    private let buttons: [UInt16: GamepadState.Buttons]
    private var state = GamepadState.neutral
    private var shown = GamepadState.neutral

    /// - Parameters:
    ///   - axes: The device's axes by their codes.
    ///   - codes: What the codes of its buttons mean.
    package init(axes: [UInt16: Axis], codes: ButtonCodes) {
        self.axes = axes
        func has(_ code: Int32) -> Bool { axes[UInt16(truncatingIfNeeded: code)] != nil }
        var pairs: [(Int32, Role)] = [(ABS_X, .leftX), (ABS_Y, .leftY), (ABS_HAT0X, .hatX), (ABS_HAT0Y, .hatY)]
        if has(ABS_RX) {
            pairs += [(ABS_RX, .rightX), (ABS_RY, .rightY), (ABS_Z, .leftTrigger), (ABS_RZ, .rightTrigger)]
        } else {
            pairs += [(ABS_Z, .rightX), (ABS_RZ, .rightY)]
        }
        pairs += [(ABS_BRAKE, .leftTrigger), (ABS_GAS, .rightTrigger)]
        pairs += [(ABS_HAT2Y, .leftTrigger), (ABS_HAT2X, .rightTrigger)]
        roles = Dictionary(uniqueKeysWithValues: pairs.map { (UInt16(truncatingIfNeeded: $0), $1) })
        let more: [(Int32, GamepadState.Buttons)] = [
            (BTN_TL2, .leftTrigger), (BTN_TR2, .rightTrigger), (BTN_DPAD_UP, .up), (BTN_DPAD_DOWN, .down),
            (BTN_DPAD_LEFT, .left), (BTN_DPAD_RIGHT, .right),
        ]
        buttons = Dictionary(
            uniqueKeysWithValues: codes.table.map { ($0.code, $0.0) }
                + more.map { (UInt16(truncatingIfNeeded: $0), $1) }
        )
    }

    /// The codes of the axes that matter.
    package var axisCodes: [UInt16] { axes.keys.filter { roles[$0] != nil }.sorted() }

    /// Whether a device with these keys and axes is a gamepad.
    ///
    /// - Parameter keys: The bits of its key codes.
    package static func isGamepad(keys: [UInt8], axes: [UInt8]) -> Bool {
        bit(BTN_SOUTH, of: keys) && bit(ABS_X, of: axes) && bit(ABS_Y, of: axes)
    }

    /// Whether the bit of a code is set.
    package static func bit(_ code: Int32, of bits: [UInt8]) -> Bool {
        let index = Int(code) / 8
        return bits.indices.contains(index) && bits[index] >> (UInt8(code % 8)) & 1 == 1
    }

    /// Follows an event.
    package mutating func take(_ event: InputEvent) -> Outcome {
        switch Int32(event.type) {
        case EV_KEY: set(event.code, isDown: event.value != 0)
        case EV_ABS: set(event.code, to: event.value)
        case EV_SYN where Int32(event.code) == SYN_DROPPED: return .lost
        case EV_SYN where Int32(event.code) == SYN_REPORT:
            guard state != shown else { return .nothing }
            shown = state
            return .state(state)
        default: break
        }
        return .nothing
    }

    /// Takes the device's whole state, at the start and after lost events.
    ///
    /// - Parameters:
    ///   - keys: The bits of the pressed keys.
    ///   - values: The axes' values by their codes.
    package mutating func reset(keys: [UInt8], values: [UInt16: Int32]) -> GamepadState {
        state = .neutral
        for code in buttons.keys where Self.bit(Int32(code), of: keys) { set(code, isDown: true) }
        for (code, value) in values { set(code, to: value) }
        shown = state
        return state
    }

    private mutating func set(_ code: UInt16, isDown: Bool) {
        guard let button = buttons[code] else { return }
        if isDown { state.buttons.insert(button) } else { state.buttons.remove(button) }
    }

    private mutating func set(_ code: UInt16, to value: Int32) {
        guard let axis = axes[code], let role = roles[code] else { return }
        let share = axis.fraction(value)
        // The middle of 0 to 255 is 128, as drivers send it at rest.
        let position = Int16(clamping: Int((share * 65535).rounded()) - 32768)
        let pull = UInt8(clamping: Int((share * 255).rounded()))
        switch role {
        case .leftX: state.leftStick.x = position
        case .leftY: state.leftStick.y = position
        case .rightX: state.rightStick.x = position
        case .rightY: state.rightStick.y = position
        case .leftTrigger: state.leftTrigger = pull
        case .rightTrigger: state.rightTrigger = pull
        case .hatX: setHat(value, .left, .right)
        case .hatY: setHat(value, .up, .down)
        }
    }

    private mutating func setHat(
        _ value: Int32,
        _ negative: GamepadState.Buttons,
        _ positive: GamepadState.Buttons
    ) {
        state.buttons.remove([negative, positive])
        if value < 0 { state.buttons.insert(negative) }
        if value > 0 { state.buttons.insert(positive) }
    }
}
