/// Events for a device's desktop, which its agent injects one after another.
///
/// The agent answers once with an ``InputReport``. It refuses an order as a whole before the first event if it can
/// tell; a later failure says how many steps were done.
package struct InputOrder: Sendable, Equatable {
    /// The most steps of one order.
    package static let maximumSteps = 4096
    /// The longest text of one step, in UTF-8 bytes.
    package static let maximumText = 64 << 10

    /// The id that the answer carries. Used once per link.
    package var id: UInt32
    /// The geometry that the coordinates mean; see ``Snapshot/Picture/geometry``. 0 means whatever it is now.
    package var geometry: UInt32
    /// Whether places beyond the edges of the screen mean the nearest ones on it. Otherwise they are refused.
    package var takesNearest: Bool
    package var steps: [InputStep]

    package init(id: UInt32, geometry: UInt32 = 0, takesNearest: Bool = false, steps: [InputStep]) {
        self.id = id
        self.geometry = geometry
        self.takesNearest = takesNearest
        self.steps = steps
    }

    /// Why the order cannot be sent, for people; `nil` if it can.
    package var problem: String? {
        if steps.count > Self.maximumSteps {
            return "the order has \(steps.count) steps; allowed: \(Self.maximumSteps)"
        }
        for (index, step) in steps.enumerated() {
            if let problem = step.problem { return "step \(index): \(problem)" }
        }
        let length = steps.reduce(InputOrderBody.fixedByteCount) { $0 &+ InputOrderBody.byteCount(of: $1) }
        guard length > PacketType.input.maximumLength else { return nil }
        return "the order has \(length) bytes; allowed: \(PacketType.input.maximumLength)"
    }
}

/// One event, or a pause between events. Coordinates are pixels of the session's picture, as in a snapshot of it; the
/// centre of the first pixel is (0.5, 0.5).
package enum InputStep: Sendable, Equatable {
    package enum TouchPhase: UInt8, Sendable, CaseIterable { case down = 1, move, up, cancel }

    case pointer(x: Double, y: Double)
    case pointerBy(dx: Double, dy: Double)
    /// A mouse button by its Linux code, BTN_LEFT (0x110) to BTN_TASK (0x117).
    case button(UInt16, isDown: Bool)
    /// Turns the wheel. In pixels, right and down are positive; 15 to 120 pixels are about a notch of a wheel: a
    /// backend without smooth scrolling turns one notch for each 120, and at least one.
    case scroll(dx: Double, dy: Double)
    case touch(id: UInt8, phase: TouchPhase, x: Double, y: Double)
    /// A key by its X keysym (X11 keysymdef.h; 0x01000000 + code point for other characters).
    case key(keysym: UInt32, isDown: Bool)
    /// Types the text, paced so that the desktop loses none of it. Line feeds are Return, tabs are Tab.
    case text(String)
    /// Waits, at most 10 s.
    case pause(milliseconds: UInt16)
    /// Releases all that is held, in reverse order.
    case releaseAll
    /// Gives the captured monitor another size, in pixels.
    case resize(width: UInt16, height: UInt16)

    /// Which value is out of range, for people; `nil` if all are valid.
    package var problem: String? { InputOrderBody.problem(of: self) }
}

/// The answer to an ``InputOrder``.
package struct InputReport: Sendable, Equatable {
    package enum Refusal: UInt8, Sendable, CaseIterable {
        case unknownSession = 1
        /// The agent has no frame yet, so coordinates mean nothing.
        case noFrame
        /// The geometry has changed since the caller saw the picture.
        case geometryChanged
        /// A place is outside the picture, or on the border around its content.
        case outside
        /// The desktop's backend cannot do that step; see ``InputCapabilities``.
        case unsupported
        /// The desktop offers no backend at all.
        case noBackend
        /// Too many orders wait.
        case busy
        /// The desktop did not take the event.
        case failed
    }

    package enum Outcome: Sendable, Equatable {
        /// The first event was handed to the desktop just after `began`, and the last one just after `at`, in monotonic
        /// ns.
        case done(began: UInt64, at: UInt64)
        /// - `step`: the index of the step that was refused; the ones before it are done unless the order was refused
        ///   as a whole (then 0).
        case refused(Refusal, step: UInt16, detail: String)
    }

    package var id: UInt32
    package var outcome: Outcome

    package init(id: UInt32, outcome: Outcome) {
        self.id = id
        self.outcome = outcome
    }
}

/// What an agent can do on its desktop. Sent after the link is made, and at every change.
package struct InputCapabilities: Sendable, Equatable, Codable {
    /// The backend: `wlroots`, `mutter`, `x11`, `portal`, `uinput`; `none` without one.
    package var backend: String
    package var pointer: Bool
    package var keyboard: Bool
    package var touch: Bool
    /// Whether scrolling is finer than a notch.
    package var smoothScroll: Bool
    /// Whether every Unicode character can be typed; if not, only those of the desktop's keyboard layout.
    package var anyCharacter: Bool
    /// Whether the agent reads and sets the desktop's clipboard; absent means no.
    package var clipboard: Bool?
    /// Why there is no backend, and what to do; `nil` if there is one.
    package var problem: String?
    /// The names of the ``GamepadType``s that the agent can make; absent means none.
    package var gamepads: [String]?
    /// Whether the agent has a microphone for callers that speak; absent means no.
    package var microphone: Bool?
    /// Whether the captured monitor takes another size; absent means no.
    package var resize: Bool?

    package init(
        backend: String,
        pointer: Bool = false,
        keyboard: Bool = false,
        touch: Bool = false,
        smoothScroll: Bool = false,
        anyCharacter: Bool = false,
        clipboard: Bool? = nil,
        problem: String? = nil,
        gamepads: [String]? = nil,
        microphone: Bool? = nil,
        resize: Bool? = nil
    ) {
        self.backend = backend
        self.pointer = pointer
        self.keyboard = keyboard
        self.touch = touch
        self.smoothScroll = smoothScroll
        self.anyCharacter = anyCharacter
        self.clipboard = clipboard
        self.problem = problem
        self.gamepads = gamepads
        self.microphone = microphone
        self.resize = resize
    }
}
