import CInput
import Gamepads
package import Wire

/// Input through virtual devices of the kernel, /dev/uinput.
///
/// Every desktop and console of the machine gets it. The kernel removes a device, and releases what it holds, when its
/// descriptor closes: at the latest when this process ends.
package final class UinputInput: InputBackend {
    /// How long a desktop gets to notice a new device, in ns.
    package static let settling: UInt64 = .milliseconds(1_000)
    /// The time from character to character, in ns. The kernel drops events if a desktop is 64 behind.
    private static let pace: UInt64 = .milliseconds(10)

    package static let capabilities = InputCapabilities(
        backend: "uinput",
        pointer: true,
        keyboard: true,
        touch: true,
        smoothScroll: true
    )
    package var capabilities: InputCapabilities { Self.capabilities }

    package func startGuard() throws(InputFailure) -> any InputGuarding { try InputGuard(endsAgent: true) }

    package typealias Node = () throws(InputFailure) -> any KernelNode

    private enum Device { case pointer, mouse, keyboard, touchScreen }

    private let openNode: Node
    private let settling: UInt64
    private let keymap: DesktopKeymap
    private var nodes: [Device: any KernelNode] = [:]
    private var pointer = UinputPointer()
    private var touches = UinputTouch()
    private var keys = DesktopKeys()

    /// - Parameters:
    ///   - keymap: The desktop's keymap, which the kernel does not know.
    ///   - settling: How long a desktop gets to notice a new device, in ns.
    ///   - node: Opens the device node.
    package init(
        keymap: DesktopKeymap?,
        settling: UInt64 = UinputInput.settling,
        node: @escaping Node = UinputInput.kernelNode
    ) throws(InputFailure) {
        guard let keymap else {
            throw .lost("This machine has no keyboard layout of the name in XKB_DEFAULT_LAYOUT. Set another one.")
        }
        (self.keymap, self.settling) = (keymap, settling)
        openNode = node
    }

    /// Opens /dev/uinput.
    package static func kernelNode() throws(InputFailure) -> any KernelNode { try DeviceNode("/dev/uinput") }

    /// Returns why devices cannot be made here, and what to do; `nil` if they can.
    package static var problem: String? {
        GamepadDiagnosis.problem(of: .xbox).map { "\($0.what) \($0.advice)" }
    }

    package func prepare(_ device: InputDevice) throws(InputFailure) {
        let wanted: [(Device, UinputDevice)] =
            switch device {
            case .pointer: [(.pointer, UinputDevices.pointer), (.mouse, UinputDevices.mouse)]
            case .keyboard: [(.keyboard, UinputDevices.keyboard)]
            case .touch: [(.touchScreen, UinputDevices.touchScreen)]
            }
        let missing = wanted.filter { nodes[$0.0] == nil }
        for (device, description) in missing {
            let node = try openNode()
            // Closed with the others, also if it cannot be made.
            nodes[device] = node
            try node.make(description)
        }
        if !missing.isEmpty { MonotonicClock.sleep(settling) }
    }

    // MARK: - Pointer

    package func movePointer(to place: InputPlace) throws(InputFailure) {
        try write(pointer.move(to: place), to: .pointer)
    }

    package func movePointer(dx: Double, dy: Double) throws(InputFailure) {
        try write(pointer.move(dx: dx, dy: dy), to: .mouse)
    }

    package func setButton(_ code: UInt16, isDown: Bool) throws(InputFailure) {
        guard (BTN_LEFT...BTN_TASK).contains(Int32(code)) else {
            throw .unsupported("The pointer has no button \(code). Buttons are 272 (left) to 279.")
        }
        try write(pointer.button(code, isDown: isDown), to: .pointer)
    }

    package func scroll(dx: Double, dy: Double) throws(InputFailure) {
        try write(pointer.scroll(dx: dx, dy: dy), to: .pointer)
    }

    package func touch(_ id: UInt8, _ phase: InputStep.TouchPhase, at place: InputPlace) throws(InputFailure) {
        try write(try touches.touch(id, phase, at: place), to: .touchScreen)
    }

    // MARK: - Keys

    package func setKey(_ keysym: UInt32, isDown: Bool) throws(InputFailure) {
        try write(isDown ? keys.press(keysym, by: try key(of: keysym)) : keys.release(keysym))
    }

    package func type(_ text: String, stop: Event) throws(InputFailure) -> UInt64 {
        try keys.type(text, every: Self.pace, stop: stop, key: key(of:), send: write)
    }

    /// Does nothing: the kernel has taken an event when it is written.
    package func flush() {}

    package func close() {
        for node in nodes.values { node.close() }
        nodes = [:]
    }

    // MARK: - Private

    private func key(of keysym: UInt32) throws(InputFailure) -> DesktopKey {
        guard let codes = keymap.codes(for: keysym) else {
            throw .unsupported(
                "The keyboard layout of the virtual keyboard does not have \(Keysym.name(keysym)). "
                    + "Set XKB_DEFAULT_LAYOUT in the device's environment to the desktop's layout, such as de."
            )
        }
        return .codes(codes)
    }

    /// Writes keys, with a report after each, as keyboards do.
    private func write(_ events: [DesktopKeys.Event]) throws(InputFailure) {
        let written = events.flatMap { event in
            switch event {
            case .code(let code, let isDown):
                [InputEvent(EV_KEY, Int32(truncatingIfNeeded: code), isDown ? 1 : 0), .report]
            // The keymap's keys are all found by code.
            case .keysym: [InputEvent]()
            }
        }
        try write(written, to: .keyboard)
    }

    private func write(_ events: [InputEvent], to device: Device) throws(InputFailure) {
        guard !events.isEmpty, let node = nodes[device] else { return }
        try node.write(events.flatMap(\.bytes))
    }
}
