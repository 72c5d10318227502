package import Wire

/// The reports of a DualSense on USB, at the offsets that the kernel's driver hid-playstation reads and writes.
package enum DualSenseReport {
    /// The id of a report, its first byte.
    package enum ID {
        package static let input: UInt8 = 0x01
        package static let output: UInt8 = 0x02
        package static let calibration: UInt8 = 0x05
        package static let address: UInt8 = 0x09
        package static let versions: UInt8 = 0x20
    }

    package static let inputByteCount = 64
    /// The fewest bytes of an output report. Longer ones, as the kernel's, end with unused bytes.
    package static let outputByteCount = 48

    static let name = "Sony Interactive Entertainment DualSense Wireless Controller"
    static let (vendor, product, version): (UInt32, UInt32, UInt32) = (0x054C, 0x0CE6, 0x0111)

    // MARK: - Input

    /// Returns the input report of a state.
    ///
    /// - Parameters:
    ///   - sequence: The report's number; the next one's is greater by 1.
    ///   - time: When it is sent, in ns on any clock.
    package static func input(_ state: GamepadState, sequence: UInt8, time: UInt64) -> [UInt8] {
        let buttons = state.buttons
        var bytes = [ID.input]
        for stick in [state.leftStick, state.rightStick] { bytes += [byte(stick.x), byte(stick.y)] }
        let left = trigger(state.leftTrigger, buttons.contains(.leftTrigger))
        let right = trigger(state.rightTrigger, buttons.contains(.rightTrigger))
        bytes += [left, right, sequence]
        bytes.append(hat(buttons) | bits(buttons, [.west: 4, .south: 5, .east: 6, .north: 7]))
        bytes.append(
            bits(
                buttons,
                [.leftShoulder: 0, .rightShoulder: 1, .select: 4, .start: 5, .leftStick: 6, .rightStick: 7]
            ) | (left > 0 ? 1 << 2 : 0) | (right > 0 ? 1 << 3 : 0)
        )
        bytes.append(bits(buttons, [.home: 0, .touchpad: 1, .mute: 2]))
        bytes += [0, 0, 0, 0, 0]
        for vector in [state.turn, state.acceleration] {
            for number in [vector.x, vector.y, vector.z] { bytes.append(little: number) }
        }
        // In thirds of a microsecond.
        bytes.append(little: UInt32(truncatingIfNeeded: time / 1000 * 3))
        bytes.append(0)
        for touch in [state.firstTouch, state.secondTouch] { bytes += contact(touch) }
        bytes += [UInt8](repeating: 0, count: 12)
        // A full battery on a cable.
        bytes.append(0x2A)
        return bytes + [UInt8](repeating: 0, count: inputByteCount - bytes.count)
    }

    /// -32768 to 32767 as 0 to 255. The middle is 128.
    private static func byte(_ position: Int16) -> UInt8 { UInt8(truncatingIfNeeded: (Int(position) + 32768) >> 8) }

    /// A trigger that was only pressed as a button is pulled.
    private static func trigger(_ value: UInt8, _ isPressed: Bool) -> UInt8 { value == 0 && isPressed ? 255 : value }

    private static func bits(_ buttons: GamepadState.Buttons, _ places: [GamepadState.Buttons: UInt8]) -> UInt8 {
        places.reduce(0) { buttons.contains($1.key) ? $0 | 1 << $1.value : $0 }
    }

    /// The direction in eighths of a turn clockwise from up; 8 for none. Opposite buttons cancel each other.
    private static func hat(_ buttons: GamepadState.Buttons) -> UInt8 {
        let x = (buttons.contains(.right) ? 1 : 0) - (buttons.contains(.left) ? 1 : 0)
        let y = (buttons.contains(.down) ? 1 : 0) - (buttons.contains(.up) ? 1 : 0)
        return switch (x, y) {
        case (0, -1): 0
        case (1, -1): 1
        case (1, 0): 2
        case (1, 1): 3
        case (0, 1): 4
        case (-1, 1): 5
        case (-1, 0): 6
        case (-1, -1): 7
        default: 8
        }
    }

    private static func contact(_ touch: GamepadState.Touch?) -> [UInt8] {
        guard let touch else { return [0x80, 0, 0, 0] }
        return [
            touch.id & 0x7F, UInt8(truncatingIfNeeded: touch.x),
            UInt8(truncatingIfNeeded: touch.x >> 8 & 0x0F | touch.y << 4), UInt8(truncatingIfNeeded: touch.y >> 4),
        ]
    }

    // MARK: - Output

    /// Applies an output report to what applications want. Fields whose flags are not set stay as they are.
    ///
    /// - Returns: `false` if it is not an output report.
    package static func apply(_ report: [UInt8], to feedback: inout GamepadFeedback) -> Bool {
        guard report.count >= outputByteCount, report[0] == ID.output else { return false }
        let (first, second, third) = (report[1], report[2], report[39])
        // By the older flags, or by the one of firmware from 2.21.
        if first & 0x03 != 0 || third & 0x04 != 0 {
            feedback.weak = UInt16(report[3]) * 257
            feedback.strong = UInt16(report[4]) * 257
        }
        if first & 0x04 != 0 { feedback.rightTrigger = effect(report[11..<22]) }
        if first & 0x08 != 0 { feedback.leftTrigger = effect(report[22..<33]) }
        if second & 0x08 != 0 { (feedback.lightbar, feedback.playerLights) = (nil, 0) }
        if third & 0x02 != 0, report[42] & 0x02 != 0 { feedback.lightbar = nil }
        if second & 0x04 != 0 {
            feedback.lightbar = GamepadFeedback.Colour(red: report[45], green: report[46], blue: report[47])
        }
        if second & 0x10 != 0 { feedback.playerLights = report[44] & 0x1F }
        return true
    }

    /// The modes 0 and 5 switch the effect off.
    private static func effect(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.first == 0 || bytes.first == 5 ? [] : Array(bytes)
    }

    // MARK: - Features

    /// Returns a feature report; `nil` if the pad has none of this id.
    ///
    /// - Parameter address: The pad's address of 6 bytes, the last byte first.
    package static func feature(_ id: UInt8, address: [UInt8]) -> [UInt8]? {
        switch id {
        case ID.calibration: calibration
        case ID.address: filled([id] + address.prefix(6), to: 20)
        case ID.versions: versions
        default: nil
        }
    }

    /// Makes a pad's numbers mean 1/16 degree per second and 1/8192 g, without bias.
    private static var calibration: [UInt8] {
        var bytes = [ID.calibration]
        // The bias of the three axes, then the number at the speed below, forwards and backwards.
        let numbers: [Int16] = [0, 0, 0, 8000, -8000, 8000, -8000, 8000, -8000, 500, 500]
        // At 1 g and at -1 g.
        let accelerations: [Int16] = [8192, -8192, 8192, -8192, 8192, -8192]
        for number in numbers + accelerations { bytes.append(little: number) }
        return filled(bytes, to: 41)
    }

    /// The versions of hardware and firmware are this project's own. From the update version 2.21 on, the driver uses
    /// the newer flag for rumble.
    private static var versions: [UInt8] {
        var bytes = filled([ID.versions], to: 24)
        bytes.append(little: UInt32(0x0000_0100))
        bytes.append(little: UInt32(0x0001_0000))
        bytes = filled(bytes, to: 44)
        bytes.append(little: UInt16(2 << 8 | 21))
        return filled(bytes, to: 64)
    }

    private static func filled(_ bytes: [UInt8], to count: Int) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: max(0, count - bytes.count))
    }
}

extension [UInt8] {
    /// Appends an integer of a HID report.
    fileprivate mutating func append(little integer: some FixedWidthInteger) { append(host: integer.littleEndian) }
}
