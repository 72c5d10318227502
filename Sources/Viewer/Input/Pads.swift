@preconcurrency package import CSDL
package import HeliographClient

/// The gamepads of this machine, of which a device gets one while the person controls it.
@MainActor
package final class Pads {
    private struct Pad {
        let id: SDL_JoystickID
        let handle: OpaquePointer
        let name: String
    }

    /// How long a rumble lasts that no application ends, ms.
    private static let rumbleTime: UInt32 = 60_000

    private var pads: [Pad] = []
    /// The one that the device gets; `nil` for none.
    private var chosen: SDL_JoystickID?
    /// Whether the person wants none.
    private var isOff = false

    /// Finds the gamepads that are there. Others come by ``handle(_:)``.
    package init() {
        guard SDL_InitSubSystem(SDL_INIT_GAMECONTROLLER) == 0 else { return }
        for index in 0..<max(0, SDL_NumJoysticks()) { add(index) }
    }

    package func close() {
        for pad in pads { SDL_GameControllerClose(pad.handle) }
        (pads, chosen) = ([], nil)
    }

    private var current: Pad? { pads.first { $0.id == chosen } }

    /// What this machine calls the one that the device gets; `nil` for none.
    package var name: String? { current?.name }

    /// Chooses the next one; after the last one, none.
    ///
    /// - Returns: What to tell the person.
    package func chooseNext() -> String {
        guard !pads.isEmpty else { return "This machine has no gamepad." }
        let place = pads.firstIndex { $0.id == chosen }
        let next = place.map { $0 + 1 } ?? 0
        (chosen, isOff) = next < pads.count ? (pads[next].id, false) : (nil, true)
        return name.map { "Gamepad: \($0)" } ?? "No gamepad"
    }

    /// Takes in an event of SDL.
    ///
    /// - Returns: Whether it is one of gamepads.
    package func handle(_ event: SDL_Event) -> Bool {
        switch SDL_EventType(event.type) {
        case SDL_CONTROLLERDEVICEADDED: add(event.cdevice.which)
        case SDL_CONTROLLERDEVICEREMOVED: remove(event.cdevice.which)
        case SDL_CONTROLLERAXISMOTION, SDL_CONTROLLERBUTTONDOWN, SDL_CONTROLLERBUTTONUP: break
        default: return false
        }
        return true
    }

    private func add(_ index: Int32) {
        guard SDL_IsGameController(index) == SDL_TRUE, let handle = SDL_GameControllerOpen(index) else { return }
        let id = SDL_JoystickInstanceID(SDL_GameControllerGetJoystick(handle))
        guard !pads.contains(where: { $0.id == id }) else { return SDL_GameControllerClose(handle) }
        let name = SDL_GameControllerName(handle).map { String(cString: $0) } ?? "gamepad"
        pads.append(Pad(id: id, handle: handle, name: name))
        if chosen == nil, !isOff { chosen = id }
    }

    private func remove(_ id: SDL_JoystickID) {
        guard let place = pads.firstIndex(where: { $0.id == id }) else { return }
        SDL_GameControllerClose(pads.remove(at: place).handle)
        if chosen == id { chosen = isOff ? nil : pads.first?.id }
    }

    /// What is pressed and moved on the chosen one now; nothing if there is none.
    package var input: GamepadInput {
        var input = GamepadInput()
        guard let handle = current?.handle else { return input }
        func axis(_ axis: SDL_GameControllerAxis) -> Double {
            max(-1, Double(SDL_GameControllerGetAxis(handle, axis)) / 32_767)
        }
        for (button, sdl) in Self.buttons where SDL_GameControllerGetButton(handle, sdl) != 0 {
            input.pressed.insert(button)
        }
        input.leftStick = .init(x: axis(SDL_CONTROLLER_AXIS_LEFTX), y: axis(SDL_CONTROLLER_AXIS_LEFTY))
        input.rightStick = .init(x: axis(SDL_CONTROLLER_AXIS_RIGHTX), y: axis(SDL_CONTROLLER_AXIS_RIGHTY))
        input.leftTrigger = max(0, axis(SDL_CONTROLLER_AXIS_TRIGGERLEFT))
        input.rightTrigger = max(0, axis(SDL_CONTROLLER_AXIS_TRIGGERRIGHT))
        // SDL has triggers as axes only.
        if input.leftTrigger > 0.5 { input.pressed.insert(.leftTrigger) }
        if input.rightTrigger > 0.5 { input.pressed.insert(.rightTrigger) }
        return input
    }

    /// Plays what the device's applications make the gamepad do.
    package func play(_ status: GamepadStatus) {
        guard let handle = current?.handle else { return }
        func strength(_ share: Double) -> UInt16 { UInt16(clamping: Int((share * 65_535).rounded())) }
        // One that cannot does nothing.
        _ = SDL_GameControllerRumble(
            handle,
            strength(status.strongRumble),
            strength(status.weakRumble),
            Self.rumbleTime
        )
        if let colours = status.lightbar, colours.count == 3 {
            _ = SDL_GameControllerSetLED(handle, colours[0], colours[1], colours[2])
        }
    }

    /// Ends the rumble of all.
    package func stopRumble() {
        for pad in pads { _ = SDL_GameControllerRumble(pad.handle, 0, 0, 0) }
    }

    private static let buttons: [(GamepadInput.Button, SDL_GameControllerButton)] = [
        (.south, SDL_CONTROLLER_BUTTON_A), (.east, SDL_CONTROLLER_BUTTON_B), (.west, SDL_CONTROLLER_BUTTON_X),
        (.north, SDL_CONTROLLER_BUTTON_Y), (.leftShoulder, SDL_CONTROLLER_BUTTON_LEFTSHOULDER),
        (.rightShoulder, SDL_CONTROLLER_BUTTON_RIGHTSHOULDER), (.select, SDL_CONTROLLER_BUTTON_BACK),
        (.start, SDL_CONTROLLER_BUTTON_START), (.leftStick, SDL_CONTROLLER_BUTTON_LEFTSTICK),
        (.rightStick, SDL_CONTROLLER_BUTTON_RIGHTSTICK), (.up, SDL_CONTROLLER_BUTTON_DPAD_UP),
        (.down, SDL_CONTROLLER_BUTTON_DPAD_DOWN), (.left, SDL_CONTROLLER_BUTTON_DPAD_LEFT),
        (.right, SDL_CONTROLLER_BUTTON_DPAD_RIGHT), (.home, SDL_CONTROLLER_BUTTON_GUIDE),
        (.touchpad, SDL_CONTROLLER_BUTTON_TOUCHPAD), (.mute, SDL_CONTROLLER_BUTTON_MISC1),
    ]
}
