import HeliographAPI
import Synchronization
package import Wire

/// What is pressed and moved on a gamepad.
public struct GamepadInput: Sendable, Hashable {
    /// A button, by its place. The raw value is its index in the W3C's standard gamepad, up to ``touchpad``.
    public enum Button: UInt32, Sendable, CaseIterable {
        /// A, or cross.
        case south
        /// B, or circle.
        case east
        /// X, or square.
        case west
        /// Y, or triangle.
        case north
        case leftShoulder, rightShoulder
        /// A trigger as a button. Move ``GamepadInput/leftTrigger`` with it.
        case leftTrigger, rightTrigger
        /// Back, select or create.
        case select
        /// Start or options.
        case start
        case leftStick, rightStick
        case up, down, left, right
        /// Guide, or PS.
        case home
        /// The DualSense's touchpad, pressed.
        case touchpad
        /// The DualSense's button for the microphone.
        case mute
    }

    /// A stick's position, -1 to 1 each: right and down are positive.
    public struct Stick: Sendable, Hashable {
        public var x: Double
        public var y: Double

        public init(x: Double = 0, y: Double = 0) { (self.x, self.y) = (x, y) }
    }

    public var pressed: Set<Button> = []
    public var leftStick = Stick()
    public var rightStick = Stick()
    /// 0 released, 1 pulled.
    public var leftTrigger = 0.0
    public var rightTrigger = 0.0

    public init() {}

    /// Values out of range count as the nearest ones, and NaN as 0.
    var state: GamepadState {
        let bits = pressed.reduce(UInt32(0)) { $0 | 1 << $1.rawValue }
        return GamepadState(
            buttons: GamepadState.Buttons(rawValue: bits),
            leftStick: leftStick.state,
            rightStick: rightStick.state,
            leftTrigger: Self.pull(leftTrigger),
            rightTrigger: Self.pull(rightTrigger)
        )
    }

    private static func pull(_ value: Double) -> UInt8 { UInt8(clamping: whole(value, times: 255)) }

    fileprivate static func whole(_ value: Double, times scale: Double) -> Int {
        // NaN becomes no number.
        Int(exactly: (max(-1, min(1, value)) * scale).rounded()) ?? 0
    }
}

extension GamepadInput.Stick {
    fileprivate var state: GamepadState.Stick {
        func position(_ value: Double) -> Int16 { Int16(clamping: GamepadInput.whole(value, times: 32_767)) }
        return GamepadState.Stick(x: position(x), y: position(y))
    }
}

/// A gamepad that a device's desktop can get.
public enum GamepadKind: String, Sendable, CaseIterable {
    /// A Microsoft Xbox 360 pad.
    case xbox
    /// A Sony DualSense.
    case dualsense
}

/// What the relay says of a program's gamepad, and what the device's applications make it do.
public struct GamepadStatus: Sendable, Hashable {
    /// What the desktop has; `nil` for nothing.
    public let kind: GamepadKind?
    /// Why it has nothing, for people.
    public let problem: String?
    /// The heavy motor and the light one, 0 to 1.
    public let strongRumble, weakRumble: Double
    /// Red, green and blue of the lightbar, 0 to 255; `nil` if no application has set it.
    public let lightbar: [UInt8]?

    init(_ json: JSONValue) {
        kind = json["gamepad"]?.string.flatMap(GamepadKind.init)
        problem = json["detail"]?.string
        func share(_ motor: JSONValue?) -> Double { max(0, min(1, (motor?.number ?? 0) / 65_535)) }
        (strongRumble, weakRumble) = (share(json["strong"]), share(json["weak"]))
        if case .array(let colours)? = json["lightbar"], colours.count == 3 {
            lightbar = colours.map { UInt8(clamping: $0.integer ?? 0) }
        } else {
            lightbar = nil
        }
    }
}

/// Gives the device that a program controls a gamepad, as long as ``run()`` does.
///
///     let gamepad = GamepadLink(to: live)
///     let running = Task { try await gamepad.run() }
///     var input = GamepadInput()
///     input.pressed = [.south]
///     gamepad.update(input)
///
/// ``LiveEvent/gamepad(_:)`` says whether the desktop has it, and how it rumbles.
public final class GamepadLink: Sendable {
    /// Between two states that are sent. The relay takes 500 messages a second, of all kinds.
    private static let interval = Duration.milliseconds(8)
    /// Between two signs of life. The agent releases everything after 2 s without one.
    private static let beat = Duration.milliseconds(500)

    private let live: LiveSession
    private let kind: GamepadKind?
    private let newest = Mutex(GamepadState.neutral)

    /// - Parameters:
    ///   - live: The live session whose device gets the gamepad. It must control the device.
    ///   - kind: What the desktop gets; `nil` for what it can have.
    public init(to live: LiveSession, as kind: GamepadKind? = nil) { (self.live, self.kind) = (live, kind) }

    /// Says what is pressed and moved from now on. Any thread may call it at any rate: the newest input counts.
    public func update(_ input: GamepadInput) { update(input.state) }

    package func update(_ state: GamepadState) { newest.withLock { $0 = state } }

    /// Connects the gamepad and sends what is new, until the task is cancelled. Then it takes the gamepad away.
    ///
    /// It needs ``LiveSession/takeControl(fromOthers:)`` before.
    ///
    /// - Throws: ``RelayError``; of the kind `ended` if the program does not control the device any more.
    public func run() async throws(RelayError) {
        let type = kind.flatMap { GamepadType(name: $0.rawValue) }
        try await live.send(message: GamepadMessage.connect(type).bytes)
        var sent: (state: GamepadState, at: ContinuousClock.Instant)?
        while !Task.isCancelled {
            guard live.control?.isMine == true else {
                throw RelayError(.ended, "the program does not control the device any more, nor its gamepad")
            }
            let (state, now) = (newest.withLock { $0 }, ContinuousClock.now)
            let isDue = sent.map { $0.state != state || $0.at.duration(to: now) >= Self.beat } ?? true
            if isDue {
                try await live.send(message: GamepadMessage.state(state).bytes)
                sent = (state, now)
            }
            try? await Task.sleep(for: Self.interval)
        }
        try? await live.send(message: GamepadMessage.disconnect.bytes)
    }
}
