@preconcurrency import CSDL
import HeliographClient
import Testing
import Viewer

@Suite("Gamepads of this machine", .serialized)
@MainActor
struct PadTests {
    /// A gamepad of SDL's own, without hardware.
    @MainActor
    private final class VirtualPad {
        private(set) var index: Int32
        private let joystick: OpaquePointer

        init() throws {
            // Without a window there is no focus.
            SDL_SetHint(SDL_HINT_JOYSTICK_ALLOW_BACKGROUND_EVENTS, "1")
            try #require(SDL_InitSubSystem(SDL_INIT_GAMECONTROLLER) == 0)
            index = SDL_JoystickAttachVirtual(SDL_JOYSTICK_TYPE_GAMECONTROLLER, 6, 21, 0)
            joystick = try #require(SDL_JoystickOpen(index))
        }

        func press(_ button: SDL_GameControllerButton, _ isDown: Bool = true) {
            SDL_JoystickSetVirtualButton(joystick, button.rawValue, isDown ? 1 : 0)
            SDL_GameControllerUpdate()
        }

        func move(_ axis: SDL_GameControllerAxis, to value: Int16) {
            SDL_JoystickSetVirtualAxis(joystick, axis.rawValue, value)
            SDL_GameControllerUpdate()
        }

        func detach() {
            SDL_JoystickClose(joystick)
            SDL_JoystickDetachVirtual(index)
        }
    }

    /// Has pads take in all events that wait.
    private func drain(_ pads: Pads) {
        var event = SDL_Event()
        SDL_PumpEvents()
        while SDL_PollEvent(&event) != 0 { _ = pads.handle(event) }
    }

    @Test("give what is pressed and moved, in the places of the standard gamepad")
    func input() throws {
        let virtual = try VirtualPad()
        defer { virtual.detach() }
        let pads = Pads()
        defer { pads.close() }
        #expect(pads.name != nil && pads.input == GamepadInput())
        virtual.press(SDL_CONTROLLER_BUTTON_A)
        virtual.press(SDL_CONTROLLER_BUTTON_DPAD_LEFT)
        virtual.move(SDL_CONTROLLER_AXIS_LEFTX, to: 32_767)
        virtual.move(SDL_CONTROLLER_AXIS_RIGHTY, to: -32_768)
        virtual.move(SDL_CONTROLLER_AXIS_TRIGGERRIGHT, to: 32_767)
        #expect(pads.input.pressed == [.south, .left, .rightTrigger], "\(pads.input)")
        #expect(pads.input.leftStick == .init(x: 1, y: 0) && pads.input.rightStick == .init(x: 0, y: -1))
        #expect(pads.input.rightTrigger == 1)
        virtual.press(SDL_CONTROLLER_BUTTON_A, false)
        #expect(pads.input.pressed == [.left, .rightTrigger])
    }

    @Test("come and go, and one of them, or none, is chosen")
    func choice() throws {
        let pads = Pads()
        defer { pads.close() }
        #expect(pads.name == nil && pads.chooseNext().contains("no gamepad"))
        let first = try VirtualPad()
        drain(pads)
        #expect(pads.name != nil)
        let second = try VirtualPad()
        defer { second.detach() }
        drain(pads)
        second.press(SDL_CONTROLLER_BUTTON_B)
        #expect(pads.input.pressed.isEmpty)
        #expect(pads.chooseNext().hasPrefix("Gamepad"))
        #expect(pads.input.pressed == [.east])
        #expect(pads.chooseNext() == "No gamepad" && pads.name == nil)
        first.detach()
        drain(pads)
        #expect(pads.name == nil, "the person wants none")
        #expect(pads.chooseNext().hasPrefix("Gamepad") && pads.input.pressed == [.east])
    }
}
