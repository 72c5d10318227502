package import Media
package import Wire

/// A binary message about a viewer's gamepad; see docs/reference/websocket.md. The first byte is its kind, 16 to 18.
package enum GamepadMessage: Sendable, Equatable {
    /// The viewer has a gamepad. `nil` leaves its type to the agent.
    case connect(GamepadType?)
    /// All that is pressed and moved.
    case state(GamepadState)
    case disconnect

    private enum Kind: UInt8 {
        case connect = 0x10
        case state, disconnect
    }

    /// Whether a message of this kind, its first byte, is about a gamepad.
    package static func isOne(_ kind: UInt8) -> Bool { Kind(rawValue: kind) != nil }

    /// Reads a message.
    ///
    /// - Returns: `nil` if its fields do not fit its kind.
    package init?(_ reader: ByteReader) {
        var rest = reader
        guard let kind = rest.u8().flatMap(Kind.init), let type = rest.u8(), rest.u16() != nil else { return nil }
        switch kind {
        case .connect:
            let known = GamepadType(rawValue: type)
            guard type == 0 || known != nil else { return nil }
            self = .connect(known)
        case .state where type == 0:
            guard let state = GamepadStateBody.parse(&rest) else { return nil }
            self = .state(state)
        case .disconnect where type == 0: self = .disconnect
        case .state, .disconnect: return nil
        }
        guard rest.count == 0 else { return nil }
    }

    package var bytes: [UInt8] {
        switch self {
        case .connect(let type): return [Kind.connect.rawValue, type?.rawValue ?? 0, 0, 0]
        case .state(let state):
            var bytes: [UInt8] = [Kind.state.rawValue, 0, 0, 0]
            GamepadStateBody.append(state, to: &bytes)
            return bytes
        case .disconnect: return [Kind.disconnect.rawValue, 0, 0, 0]
        }
    }
}

/// The event `gamepad`, which tells a viewer how its gamepad is: all of it each time.
package struct GamepadEvent: Sendable, Equatable {
    /// The gamepad that the agent has made; `nil` for none.
    package var type: GamepadType?
    /// Why there is none, and what to do, for people.
    package var detail: String?
    package var feedback: GamepadFeedback

    package init(type: GamepadType? = nil, detail: String? = nil, feedback: GamepadFeedback = GamepadFeedback()) {
        (self.type, self.detail, self.feedback) = (type, detail, feedback)
    }

    package var json: JSONValue {
        func list(_ bytes: [UInt8]) -> JSONValue { .array(bytes.map { JSONValue($0) }) }
        let lightbar = feedback.lightbar.map { list([$0.red, $0.green, $0.blue]) }
        return [
            "type": "gamepad",
            "gamepad": JSONValue(type?.name),
            "detail": JSONValue(detail),
            "strong": JSONValue(feedback.strong),
            "weak": JSONValue(feedback.weak),
            "lightbar": lightbar ?? .null,
            "playerLights": JSONValue(feedback.playerLights),
            "leftTrigger": list(feedback.leftTrigger),
            "rightTrigger": list(feedback.rightTrigger),
        ]
    }
}
