package import Media

/// The bytes of a ``GamepadState``, big-endian. GAMEPAD packets and viewers' messages have the same.
///
///      0 | buttons, u32
///      4 | left stick x, y, then the right stick's: i16 each
///     12 | left trigger, right trigger: u8 each
///     14 | two touches of 5 bytes: id, u8, 0 for none; x, u16, 0 to 1919; y, u16, 0 to 1079
///     24 | turning speed x, y, z: i16 each, 1/16 degree per second
///     30 | acceleration x, y, z: i16 each, 1/8192 g
package enum GamepadStateBody {
    package static let byteCount = 36

    package static func append(_ state: GamepadState, to bytes: inout [UInt8]) {
        bytes.append(bigEndian: state.buttons.rawValue)
        for stick in [state.leftStick, state.rightStick] {
            bytes.append(bigEndian: stick.x)
            bytes.append(bigEndian: stick.y)
        }
        bytes += [state.leftTrigger, state.rightTrigger]
        for touch in [state.firstTouch, state.secondTouch] {
            bytes.append(touch?.id ?? 0)
            bytes.append(bigEndian: touch?.x ?? 0)
            bytes.append(bigEndian: touch?.y ?? 0)
        }
        for vector in [state.turn, state.acceleration] {
            bytes.append(bigEndian: vector.x)
            bytes.append(bigEndian: vector.y)
            bytes.append(bigEndian: vector.z)
        }
    }

    /// Reads a state.
    ///
    /// - Returns: `nil` if bytes are missing or a value is out of range. Unknown buttons are ignored.
    package static func parse(_ rest: inout ByteReader) -> GamepadState? {
        guard let buttons = rest.u32(), let leftX = i16(&rest), let leftY = i16(&rest), let rightX = i16(&rest),
            let rightY = i16(&rest), let leftTrigger = rest.u8(), let rightTrigger = rest.u8(),
            let first = touch(&rest), let second = touch(&rest), let turn = vector(&rest),
            let acceleration = vector(&rest)
        else { return nil }
        return GamepadState(
            buttons: GamepadState.Buttons(rawValue: buttons).intersection(.all),
            leftStick: GamepadState.Stick(x: leftX, y: leftY),
            rightStick: GamepadState.Stick(x: rightX, y: rightY),
            leftTrigger: leftTrigger,
            rightTrigger: rightTrigger,
            firstTouch: first,
            secondTouch: second,
            turn: turn,
            acceleration: acceleration
        )
    }

    private static func i16(_ rest: inout ByteReader) -> Int16? { rest.u16().map { Int16(bitPattern: $0) } }

    private static func vector(_ rest: inout ByteReader) -> GamepadState.Vector? {
        guard let x = i16(&rest), let y = i16(&rest), let z = i16(&rest) else { return nil }
        return GamepadState.Vector(x: x, y: y, z: z)
    }

    /// - Returns: `nil` if it is malformed; `.some(nil)` if there is no finger.
    private static func touch(_ rest: inout ByteReader) -> GamepadState.Touch?? {
        guard let id = rest.u8(), let x = rest.u16(), let y = rest.u16() else { return nil }
        guard id != 0 else { return x == 0 && y == 0 ? .some(nil) : nil }
        guard id < 128, x < GamepadState.Touch.width, y < GamepadState.Touch.height else { return nil }
        return GamepadState.Touch(id: id, x: x, y: y)
    }
}

/// The body of a GAMEPAD packet, big-endian:
///
///      0 | id, u32
///      4 | action, u8: 1 connect, 2 state, 3 disconnect
///      5 | type of connect, u8: 0 any, 1 Xbox 360, 2 DualSense; else 0
///      6 | reserved, u16: 0
///      8 | with state: a gamepad's state, 36 bytes
enum GamepadOrderBody {
    private enum Action: UInt8 { case connect = 1, state, disconnect }

    static func append(_ order: GamepadOrder, to bytes: inout [UInt8]) {
        bytes.append(bigEndian: order.id)
        let (action, type): (Action, UInt8) =
            switch order.action {
            case .connect(let type): (.connect, type?.rawValue ?? 0)
            case .state: (.state, 0)
            case .disconnect: (.disconnect, 0)
            }
        bytes += [action.rawValue, type, 0, 0]
        if case .state(let state) = order.action { GamepadStateBody.append(state, to: &bytes) }
    }

    static func parse(_ body: ByteReader) throws(WireError) -> GamepadOrder {
        var rest = body
        guard let id = rest.u32(), let action = rest.u8(), let type = rest.u8(), rest.u16() != nil else {
            throw .malformedBody(type: .gamepad, reason: "\(body.count) bytes, at least 8 expected")
        }
        let order: GamepadOrder?
        switch Action(rawValue: action) {
        case .connect:
            let known = GamepadType(rawValue: type)
            order = type == 0 || known != nil ? GamepadOrder(id: id, .connect(known)) : nil
        case .state where type == 0: order = GamepadStateBody.parse(&rest).map { GamepadOrder(id: id, .state($0)) }
        case .disconnect where type == 0: order = GamepadOrder(id: id, .disconnect)
        case .state, .disconnect, nil: order = nil
        }
        guard let order, rest.count == 0 else {
            throw .malformedBody(type: .gamepad, reason: "action \(action), type \(type), \(body.count) bytes")
        }
        return order
    }
}

/// The body of a GAMEPAD_FEEDBACK packet, big-endian:
///
///      0 | id, u32
///      4 | event, u8: 1 connected, 2 failed, 3 feedback
///      5 | type of connected, u8: 1 Xbox 360, 2 DualSense; else 0
///      6 | reserved, u16: 0
///      8 | with failed: the reason to the end of the body, UTF-8
///      8 | with feedback: strong motor, weak motor: u16 each
///     12 | lightbar, u8: 0 none, 1 set; red, green, blue: u8 each
///     16 | player lights, u8: five bits
///     17 | left trigger, then right trigger: u8, 0 none or 11; so many bytes
enum GamepadReportBody {
    private enum Event: UInt8 { case connected = 1, failed, feedback }
    private static let longestReason = 1024
    private static let playerLights: UInt8 = 0x1F

    static func append(_ report: GamepadReport, to bytes: inout [UInt8]) {
        bytes.append(bigEndian: report.id)
        switch report.event {
        case .connected(let type): bytes += [Event.connected.rawValue, type.rawValue, 0, 0]
        case .failed(let reason):
            bytes += [Event.failed.rawValue, 0, 0, 0]
            bytes += reason.utf8(upTo: longestReason)
        case .feedback(let feedback):
            bytes += [Event.feedback.rawValue, 0, 0, 0]
            bytes.append(bigEndian: feedback.strong)
            bytes.append(bigEndian: feedback.weak)
            let colour = feedback.lightbar
            bytes += [colour == nil ? 0 : 1, colour?.red ?? 0, colour?.green ?? 0, colour?.blue ?? 0]
            bytes.append(feedback.playerLights & playerLights)
            for trigger in [feedback.leftTrigger, feedback.rightTrigger] {
                bytes.append(UInt8(clamping: trigger.count))
                bytes += trigger
            }
        }
    }

    static func parse(_ body: ByteReader) throws(WireError) -> GamepadReport {
        var rest = body
        guard let id = rest.u32(), let event = rest.u8(), let type = rest.u8(), rest.u16() != nil else {
            throw .malformedBody(type: .gamepadFeedback, reason: "\(body.count) bytes, at least 8 expected")
        }
        let parsed: GamepadReport.Event?
        switch Event(rawValue: event) {
        case .connected: parsed = GamepadType(rawValue: type).map { .connected($0) }
        case .failed where type == 0:
            guard rest.count <= longestReason, let bytes = rest.take(rest.count) else {
                throw .malformedBody(type: .gamepadFeedback, reason: "a reason of \(rest.count) bytes")
            }
            parsed = String(validating: bytes.bytes, as: UTF8.self).map { .failed($0) }
        case .feedback where type == 0: parsed = feedback(&rest).map { .feedback($0) }
        case .failed, .feedback, nil: parsed = nil
        }
        guard let parsed, rest.count == 0 else {
            throw .malformedBody(type: .gamepadFeedback, reason: "event \(event), type \(type), \(body.count) bytes")
        }
        return GamepadReport(id: id, parsed)
    }

    private static func feedback(_ rest: inout ByteReader) -> GamepadFeedback? {
        guard let strong = rest.u16(), let weak = rest.u16(), let hasLightbar = rest.u8(), let red = rest.u8(),
            let green = rest.u8(), let blue = rest.u8(), let lights = rest.u8(), let left = trigger(&rest),
            let right = trigger(&rest), hasLightbar <= 1, lights <= playerLights,
            hasLightbar == 1 || (red, green, blue) == (0, 0, 0)
        else { return nil }
        return GamepadFeedback(
            strong: strong,
            weak: weak,
            lightbar: hasLightbar == 1 ? GamepadFeedback.Colour(red: red, green: green, blue: blue) : nil,
            playerLights: lights,
            leftTrigger: left,
            rightTrigger: right
        )
    }

    private static func trigger(_ rest: inout ByteReader) -> [UInt8]? {
        guard let count = rest.u8(), count == 0 || count == UInt8(clamping: GamepadFeedback.triggerByteCount) else {
            return nil
        }
        return rest.take(Int(clamping: count))?.bytes
    }
}
