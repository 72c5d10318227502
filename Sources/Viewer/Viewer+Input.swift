@preconcurrency import CSDL
import HeliographClient

extension Viewer {
    /// How long keys do nothing after control has ended by itself, ns.
    private static let restTime: UInt64 = 1_000_000_000
    /// The mouse that SDL makes of the first finger: `SDL_TOUCH_MOUSEID`.
    private static let fingerMouse = UInt32.max

    // MARK: Keys

    func name(_ event: SDL_KeyboardEvent) -> String { String(cString: SDL_GetKeyName(event.keysym.sym)) }

    func text(_ event: SDL_TextInputEvent) -> String {
        withUnsafeBytes(of: event.text) { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
    }

    func keyDown(_ event: SDL_KeyboardEvent) {
        let (name, modifiers) = (name(event), UInt32(event.keysym.mod))
        guard control?.state != .on else {
            // Keys of characters are those below the bit for scancodes.
            let value = UInt32(bitPattern: event.keysym.sym)
            let character = (0x20..<0x4000_0000).contains(value) && value != 0x7F ? Unicode.Scalar(value) : nil
            let key = KeyboardState.Key(
                scancode: Int32(event.keysym.scancode.rawValue),
                name: name,
                character: character,
                isRepeat: event.repeat != 0,
                hasShift: modifiers & KMOD_SHIFT.rawValue != 0,
                isCommand: modifiers & (KMOD_CTRL.rawValue | KMOD_LALT.rawValue | KMOD_GUI.rawValue) != 0
            )
            control?.keyDown(key, now: Self.now)
            return
        }
        let isPlain = modifiers & (KMOD_CTRL.rawValue | KMOD_ALT.rawValue | KMOD_GUI.rawValue) == 0
        guard Self.now >= shortcutsFrom else { return }
        if isPlain, event.repeat == 0, let shortcut = Shortcut(key: name) { carryOut(shortcut) }
    }

    // MARK: Control

    private func begin(_ feed: SessionFeed, takes: Bool) {
        guard options.mayControl, let live = feed.live else { return }
        if let control = live.control, !control.may {
            return tell("You may only look: \(control.why ?? "the relay gives no reason")")
        }
        control = HandControl(feed)
        control?.begin(takes: takes)
    }

    /// Takes in what the relay says of control.
    func followControl() {
        switch control?.follow() {
        case .begun:
            SDL_SetWindowKeyboardGrab(window.handle, SDL_TRUE)
            SDL_ShowCursor(SDL_DISABLE)
            if locksPointer { SDL_SetRelativeMouseMode(SDL_TRUE) }
            tell("You control \(control?.feed.name ?? "the device"). Hold Escape for a second to stop.")
            if speaks { speak() }
            sendGamepad()
        case .ended(let reason):
            endControl()
            shortcutsFrom = Self.now + Self.restTime
            tell(reason)
        case nil: break
        }
    }

    // MARK: Gamepad

    /// Gives the controlled device what is pressed on the chosen gamepad, or takes the gamepad away.
    func sendGamepad() {
        guard control?.state == .on, let live = control?.feed.live, let name = pads.name else { return endGamepad() }
        if gamepad?.name != name {
            let former = gamepad?.running
            endGamepad()
            let link = GamepadLink(to: live)
            // After the former one has gone. If it ends, control does, too, and the person is told.
            let running = Task.detached {
                await former?.value
                try? await link.run()
            }
            gamepad = (link, running, name)
        }
        gamepad?.link.update(pads.input)
    }

    func endGamepad() {
        gamepad?.running.cancel()
        gamepad = nil
        pads.stopRumble()
    }

    /// Plays what the device's applications do with the gamepad, and says why there is none.
    func followGamepad(_ status: GamepadStatus) {
        guard gamepad != nil else { return }
        pads.play(status)
        if status.kind == nil, let problem = status.problem { tell("The device has no gamepad: \(problem)") }
    }

    func endControl() {
        endGamepad()
        microphone?.close()
        (microphone, speaks) = (nil, false)
        guard let control else { return }
        control.end()
        self.control = nil
        SDL_SetRelativeMouseMode(SDL_FALSE)
        locksPointer = false
        SDL_SetWindowKeyboardGrab(window.handle, SDL_FALSE)
        SDL_ShowCursor(SDL_ENABLE)
        needsDrawing = true
    }

    // MARK: Pointer and fingers

    /// Whether SDL made an event of the mouse from a finger, which the device gets as a finger.
    private func isOfFinger(_ which: UInt32) -> Bool {
        which == Self.fingerMouse && control?.state == .on && control?.feed.live?.control?.hasTouch == true
    }

    func moved(_ event: SDL_MouseMotionEvent) {
        guard let control, control.state == .on, !isOfFinger(event.which) else { return }
        if locksPointer {
            guard let (dx, dy) = wall.distance(event.xrel, event.yrel, in: control.feed) else { return }
            return control.moved(dx: dx, dy: dy, now: Self.now)
        }
        guard let point = wall.point(event.x, event.y, in: control.feed) else { return }
        if point.isInside || event.state != 0 { control.moved(to: point.place, now: Self.now) }
    }

    func button(_ event: SDL_MouseButtonEvent) {
        guard !isOfFinger(event.which) else { return }
        let isDown = SDL_EventType(event.type) == SDL_MOUSEBUTTONDOWN
        if let control, control.state == .on {
            guard let button = Input.Button(sdl: event.button) else { return }
            guard !locksPointer else { return control.button(button, isDown: isDown) }
            guard let point = wall.point(event.x, event.y, in: control.feed) else { return }
            return control.button(button, isDown: isDown, at: point.place, isInside: point.isInside)
        }
        guard let point = wall.point(event.x, event.y, in: control?.feed) else { return }
        guard isDown, point.isInside, event.button == 1, control == nil else { return }
        if wall.selected == nil {
            select(point.index)
        } else {
            begin(feeds[point.index], takes: SDL_GetModState().rawValue & KMOD_SHIFT.rawValue != 0)
        }
    }

    func wheel(_ event: SDL_MouseWheelEvent) {
        guard let control, control.state == .on else { return }
        let point = wall.point(event.mouseX, event.mouseY, in: control.feed)
        guard locksPointer || point?.isInside == true else { return }
        let sign = event.direction == SDL_MOUSEWHEEL_FLIPPED.rawValue ? -1.0 : 1
        let place = locksPointer ? nil : point?.place
        control.wheel(right: sign * Double(event.x), down: -sign * Double(event.y), at: place)
    }

    func finger(_ event: SDL_TouchFingerEvent) {
        guard let control, control.state == .on, control.feed.live?.control?.hasTouch == true,
            let point = wall.point(share: event.x, event.y, in: control.feed)
        else { return }
        let phase: Input.Contact.Phase =
            switch SDL_EventType(event.type) {
            case SDL_FINGERDOWN: .down
            case SDL_FINGERUP: .up
            default: .move
            }
        control.finger(event.fingerId, phase, at: point.place, isInside: point.isInside, now: Self.now)
    }
}

extension Input.Button {
    /// - Parameter sdl: SDL's number.
    fileprivate init?(sdl: UInt8) {
        switch Int32(sdl) {
        case SDL_BUTTON_LEFT: self = .left
        case SDL_BUTTON_MIDDLE: self = .middle
        case SDL_BUTTON_RIGHT: self = .right
        case SDL_BUTTON_X1: self = .back
        case SDL_BUTTON_X2: self = .forward
        default: return nil
        }
    }
}
