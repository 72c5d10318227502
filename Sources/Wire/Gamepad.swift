/// The kind of a virtual gamepad.
package enum GamepadType: UInt8, Sendable, CaseIterable {
    /// A Microsoft Xbox 360 pad.
    case xbox = 1
    /// A Sony DualSense on USB.
    case dualsense = 2

    /// The type's name in the API and on command lines.
    package var name: String {
        switch self {
        case .xbox: "xbox"
        case .dualsense: "dualsense"
        }
    }

    /// Finds a type by its name.
    package init?(name: String) {
        guard let type = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = type
    }
}

/// All that is pressed and moved on a gamepad at one time.
///
/// It is sent as a whole each time, so a lost or replaced state leaves nothing held.
package struct GamepadState: Sendable, Equatable {
    /// The pressed buttons. The bits are the indexes of the W3C's standard gamepad, then two of the DualSense.
    package struct Buttons: OptionSet, Sendable, Hashable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The lower button of the right cluster: A, or cross.
        package static let south = Buttons(rawValue: 1 << 0)
        /// The right one: B, or circle.
        package static let east = Buttons(rawValue: 1 << 1)
        /// The left one: X, or square.
        package static let west = Buttons(rawValue: 1 << 2)
        /// The upper one: Y, or triangle.
        package static let north = Buttons(rawValue: 1 << 3)
        package static let leftShoulder = Buttons(rawValue: 1 << 4)
        package static let rightShoulder = Buttons(rawValue: 1 << 5)
        /// The left trigger as a button. A pad with an analog trigger also moves it.
        package static let leftTrigger = Buttons(rawValue: 1 << 6)
        package static let rightTrigger = Buttons(rawValue: 1 << 7)
        /// Back, select or create.
        package static let select = Buttons(rawValue: 1 << 8)
        /// Start or options.
        package static let start = Buttons(rawValue: 1 << 9)
        package static let leftStick = Buttons(rawValue: 1 << 10)
        package static let rightStick = Buttons(rawValue: 1 << 11)
        package static let up = Buttons(rawValue: 1 << 12)
        package static let down = Buttons(rawValue: 1 << 13)
        package static let left = Buttons(rawValue: 1 << 14)
        package static let right = Buttons(rawValue: 1 << 15)
        /// Guide, or PS.
        package static let home = Buttons(rawValue: 1 << 16)
        /// The DualSense's touchpad, pressed.
        package static let touchpad = Buttons(rawValue: 1 << 17)
        /// The DualSense's button that mutes the microphone.
        package static let mute = Buttons(rawValue: 1 << 18)

        package static let all = Buttons(rawValue: (1 << 19) - 1)
    }

    /// A stick's position, -32768 to 32767: right and down are positive.
    package struct Stick: Sendable, Equatable {
        package var x: Int16
        package var y: Int16

        package init(x: Int16 = 0, y: Int16 = 0) { (self.x, self.y) = (x, y) }
    }

    /// A finger on the DualSense's touchpad.
    package struct Touch: Sendable, Equatable {
        package static let (width, height): (UInt16, UInt16) = (1920, 1080)

        /// 1 to 127: another number is another finger.
        package var id: UInt8
        /// 0 to 1919, from the left.
        package var x: UInt16
        /// 0 to 1079, from the top.
        package var y: UInt16

        package init(id: UInt8, x: UInt16, y: UInt16) { (self.id, self.x, self.y) = (id, x, y) }
    }

    /// Three numbers of a motion sensor, as the DualSense orders them.
    package struct Vector: Sendable, Equatable {
        package var x: Int16
        package var y: Int16
        package var z: Int16

        package init(x: Int16 = 0, y: Int16 = 0, z: Int16 = 0) { (self.x, self.y, self.z) = (x, y, z) }
    }

    package var buttons: Buttons
    package var leftStick: Stick
    package var rightStick: Stick
    /// 0 released, 255 pulled.
    package var leftTrigger: UInt8
    package var rightTrigger: UInt8
    package var firstTouch: Touch?
    package var secondTouch: Touch?
    /// The turning speed, in 1/16 degree per second.
    package var turn: Vector
    /// The acceleration, in 1/8192 g.
    package var acceleration: Vector

    package init(
        buttons: Buttons = [],
        leftStick: Stick = Stick(),
        rightStick: Stick = Stick(),
        leftTrigger: UInt8 = 0,
        rightTrigger: UInt8 = 0,
        firstTouch: Touch? = nil,
        secondTouch: Touch? = nil,
        turn: Vector = Vector(),
        acceleration: Vector = Vector()
    ) {
        self.buttons = buttons
        self.leftStick = leftStick
        self.rightStick = rightStick
        self.leftTrigger = leftTrigger
        self.rightTrigger = rightTrigger
        self.firstTouch = firstTouch
        self.secondTouch = secondTouch
        self.turn = turn
        self.acceleration = acceleration
    }

    /// Nothing pressed, nothing moved.
    package static let neutral = GamepadState()
}

/// What the relay tells an agent about its one gamepad.
package struct GamepadOrder: Sendable, Equatable {
    package enum Action: Sendable, Equatable {
        /// Makes a gamepad, in place of any other. `nil` leaves the type to the agent.
        case connect(GamepadType?)
        case state(GamepadState)
        case disconnect
    }

    /// The gamepad's number, new for each `connect` on a link.
    package var id: UInt32
    package var action: Action

    package init(id: UInt32, _ action: Action) { (self.id, self.action) = (id, action) }
}

/// What an agent tells the relay about its gamepad.
package struct GamepadReport: Sendable, Equatable {
    package enum Event: Sendable, Equatable {
        /// The gamepad exists.
        case connected(GamepadType)
        /// There is no gamepad, or none any more. Why, and what to do, for people.
        case failed(String)
        /// What applications want of the gamepad.
        case feedback(GamepadFeedback)
    }

    package var id: UInt32
    package var event: Event

    package init(id: UInt32, _ event: Event) { (self.id, self.event) = (id, event) }
}

/// What applications make a gamepad do: all of it each time.
package struct GamepadFeedback: Sendable, Equatable {
    package struct Colour: Sendable, Equatable {
        package var red: UInt8
        package var green: UInt8
        package var blue: UInt8

        package init(red: UInt8, green: UInt8, blue: UInt8) { (self.red, self.green, self.blue) = (red, green, blue) }
    }

    /// The bytes of a trigger's effect: a mode, then ten parameters, as applications send them to a DualSense.
    package static let triggerByteCount = 11

    /// The heavy motor, on the left, 0 to 65535.
    package var strong: UInt16
    /// The light motor, on the right.
    package var weak: UInt16
    /// `nil` for a gamepad without a lightbar, or one that no application has set.
    package var lightbar: Colour?
    /// The five lights of a DualSense, bit 0 on the left; 0 on other gamepads.
    package var playerLights: UInt8
    /// ``triggerByteCount`` bytes; empty for no effect.
    package var leftTrigger: [UInt8]
    package var rightTrigger: [UInt8]

    package init(
        strong: UInt16 = 0,
        weak: UInt16 = 0,
        lightbar: Colour? = nil,
        playerLights: UInt8 = 0,
        leftTrigger: [UInt8] = [],
        rightTrigger: [UInt8] = []
    ) {
        self.strong = strong
        self.weak = weak
        self.lightbar = lightbar
        self.playerLights = playerLights
        self.leftTrigger = leftTrigger
        self.rightTrigger = rightTrigger
    }
}
