import Glibc
package import Wire

/// Input through GNOME's compositor, org.gnome.Mutter.RemoteDesktop.
package final class MutterInput: InputBackend {
    /// How long programs get to notice a new device, in ns. Mutter makes a device at its first event.
    private static let settling: UInt64 = .milliseconds(200)
    /// How long the compositor gets to announce its keyboard, in ns.
    private static let keymapTimeout: UInt64 = .milliseconds(1_000)
    /// The time from character to character, in ns.
    private static let pace: UInt64 = .milliseconds(1)
    /// The flag of NotifyPointerAxis for a device without notches. Mutter loses parts of a wheel's notch, and programs
    /// scroll on after a finger.
    private static let continuous: UInt32 = 8
    /// The most fingers. Mutter has that many slots.
    private static let fingers: UInt8 = 32
    /// A keysym without a key. Mutter makes the keyboard and drops the event.
    private static let voidKeysym: UInt32 = 0xFF_FFFF

    /// A place where no window is.
    private static let nowhere = InputPlace(x: -1, y: -1, width: 10_000, height: 10_000)

    /// A key that is held down.
    private struct Press {
        /// The kernel's codes, first the modifiers for the key's level; or else the keysym.
        var codes: [UInt32]
        var keysym: UInt32?
    }

    package let capabilities: InputCapabilities

    private let desktop: MutterRemoteDesktop
    private let keyboard: MutterKeyboard?
    private var presses: [UInt32: Press] = [:]
    private var touches: Set<UInt8> = []
    private var hasTouchscreen = false

    /// - Parameter screen: What the source captures. A virtual screen must exist already.
    package init(screen: MutterSource.Screen) throws(InputFailure) {
        let desktop = try Self.explaining { () throws(BusError) in try MutterRemoteDesktop(screen) }
        self.desktop = desktop
        capabilities = Self.capabilities(of: desktop.devices)
        // Without a Wayland connection the layout stays unknown.
        keyboard = MutterKeyboard()
        do throws(InputFailure) {
            try makeDevices()
        } catch {
            close()
            throw error
        }
    }

    /// - Parameter devices: Those that the compositor can make, of ``MutterRemoteDesktop/Device``.
    static func capabilities(of devices: UInt32) -> InputCapabilities {
        InputCapabilities(
            backend: "mutter",
            pointer: devices & MutterRemoteDesktop.Device.pointer != 0,
            keyboard: devices & MutterRemoteDesktop.Device.keyboard != 0,
            touch: devices & MutterRemoteDesktop.Device.touch != 0,
            smoothScroll: true
        )
    }

    package func prepare(_ device: InputDevice) throws(InputFailure) {
        if device == .touch, !hasTouchscreen { try makeTouchscreen() }
    }

    // MARK: - Pointer

    package func movePointer(to place: InputPlace) throws(InputFailure) {
        try notify("NotifyPointerMotionAbsolute", at: place) { _ in }
    }

    package func movePointer(dx: Double, dy: Double) throws(InputFailure) {
        try notify("NotifyPointerMotionRelative") { message throws(BusError) in
            try message.append(dx)
            try message.append(dy)
        }
    }

    package func setButton(_ code: UInt16, isDown: Bool) throws(InputFailure) {
        try notify("NotifyPointerButton") { message throws(BusError) in
            try message.append(signed: Int32(code))
            try message.append(isDown)
        }
    }

    package func scroll(dx: Double, dy: Double) throws(InputFailure) {
        try notify("NotifyPointerAxis") { message throws(BusError) in
            try message.append(dx)
            try message.append(dy)
            try message.append(Self.continuous)
        }
    }

    package func touch(_ id: UInt8, _ phase: InputStep.TouchPhase, at place: InputPlace) throws(InputFailure) {
        guard id < Self.fingers else { throw .unsupported("Mutter knows the fingers 0 to 31, not \(id).") }
        let slot = Self.slot(id)
        switch phase {
        case .down:
            // Mutter ends if a finger that is down comes down again.
            guard !touches.contains(id) else { return }
            touches.insert(id)
            try notify("NotifyTouchDown", at: place, slot)
        case .move:
            guard touches.contains(id) else { return }
            try notify("NotifyTouchMotion", at: place, slot)
        case .up, .cancel:
            guard touches.remove(id) != nil else { return }
            // Mutter cannot cancel a touch. A finger that is lifted where no window is taps nothing.
            if phase == .cancel { try notify("NotifyTouchMotion", at: Self.nowhere, slot) }
            try notify("NotifyTouchUp", slot)
        }
    }

    // MARK: - Keys

    package func setKey(_ keysym: UInt32, isDown: Bool) throws(InputFailure) {
        if isDown {
            guard presses[keysym] == nil else { return }
            var press = try press(for: keysym)
            // Modifiers that the caller already holds are not pressed again.
            press.codes.removeAll { isHeld($0) }
            presses[keysym] = press
            try set(press, isDown: true)
        } else {
            guard let press = presses.removeValue(forKey: keysym) else { return }
            var released = press
            released.codes = press.codes.filter { !isHeld($0) }
            try set(released, isDown: false)
        }
    }

    package func type(_ text: String, stop: Event) throws(InputFailure) -> UInt64 {
        // A character that Mutter lacks is found before the first one is typed.
        let presses = try Keysym.typing(text).map { (keysym: UInt32) throws(InputFailure) in try press(for: keysym) }
        var next = MonotonicClock.now
        var last = next
        for var press in presses {
            if stop.wait(until: next) { return last }
            last = MonotonicClock.now
            next = max(next, last) + Self.pace
            press.codes = press.codes.filter { !isHeld($0) }
            try set(press, isDown: true)
            try set(press, isDown: false)
        }
        return last
    }

    package func flush() throws(InputFailure) {
        try Self.explaining { () throws(BusError) in try desktop.finish() }
        keyboard?.roundTrip()
    }

    package func close() {
        desktop.close()
        keyboard?.close()
    }

    // MARK: - Devices

    /// Has Mutter make its pointer and its keyboard, whose first events would be lost to programs.
    private func makeDevices() throws(InputFailure) {
        if capabilities.pointer { try movePointer(dx: 0, dy: 0) }
        if capabilities.keyboard {
            let void = Press(codes: [], keysym: Self.voidKeysym)
            try set(void, isDown: true)
            try set(void, isDown: false)
            keyboard?.waitForKeymap(until: MonotonicClock.now + Self.keymapTimeout)
        }
        MonotonicClock.sleep(Self.settling)
    }

    /// Has Mutter make its touchscreen by a touch where no window is. Not made before it is needed, because programs
    /// look different with a touchscreen.
    private func makeTouchscreen() throws(InputFailure) {
        hasTouchscreen = true
        try notify("NotifyTouchDown", at: Self.nowhere, Self.slot(0))
        try notify("NotifyTouchUp", Self.slot(0))
        MonotonicClock.sleep(Self.settling)
    }

    // MARK: - Private

    /// Returns what appends a finger's slot to a message.
    private static func slot(_ id: UInt8) -> (BusMessage) throws(BusError) -> Void {
        { message throws(BusError) in try message.append(UInt32(id)) }
    }

    /// Finds the key of a keysym.
    private func press(for keysym: UInt32) throws(InputFailure) -> Press {
        keyboard?.refresh()
        guard let keymap = keyboard?.keymap else {
            guard Self.isOnEveryKeyboard(keysym) else {
                throw .unsupported(
                    "\(Self.capitalised(Keysym.name(keysym))) may be missing in Mutter's keyboard layout, which is "
                        + "unknown without a Wayland connection: set WAYLAND_DISPLAY for the agent."
                )
            }
            return Press(codes: [], keysym: keysym)
        }
        guard let key = keymap.key(for: keysym) else {
            throw .unsupported(
                "Mutter's keyboard layout does not have \(Keysym.name(keysym)). Add a layout that has it to the desktop."
            )
        }
        // With several layouts, only Mutter knows which one is in use, and finds the key by the keysym.
        guard keymap.groups == 1 else { return Press(codes: [], keysym: keymap.original(of: keysym)) }
        // By keycodes, because Mutter forgets to release modifiers that it pressed for a keysym if the agent is killed.
        var codes: [UInt32] = []
        for (bit, modifier) in [(1, KeyboardLayout.shift), (2, KeyboardLayout.levelThreeShift)]
        where key.level & bit != 0 {
            if let keycode = keymap.layout.keycode(of: modifier) { codes.append(Self.code(keycode)) }
        }
        return Press(codes: codes + [Self.code(key.keycode)], keysym: nil)
    }

    private func set(_ press: Press, isDown: Bool) throws(InputFailure) {
        for code in isDown ? press.codes : press.codes.reversed() {
            try notify("NotifyKeyboardKeycode") { message throws(BusError) in
                try message.append(code)
                try message.append(isDown)
            }
        }
        guard let keysym = press.keysym else { return }
        try notify("NotifyKeyboardKeysym") { message throws(BusError) in
            try message.append(keysym)
            try message.append(isDown)
        }
    }

    private func isHeld(_ code: UInt32) -> Bool { presses.values.contains { $0.codes.contains(code) } }

    /// Returns the kernel's code of an X keycode.
    private static func code(_ keycode: UInt8) -> UInt32 { UInt32(max(keycode, 8) - 8) }

    /// Whether all usual layouts have a keysym: ASCII, function keys and modifiers.
    private static func isOnEveryKeyboard(_ keysym: UInt32) -> Bool {
        (0x20...0x7E).contains(keysym) || (0xFF00...0xFFFF).contains(keysym)
    }

    private static func capitalised(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

    private func notify(
        _ method: String,
        _ arguments: (BusMessage) throws(BusError) -> Void
    ) throws(InputFailure) {
        try Self.explaining { () throws(BusError) in try desktop.notify(method, arguments) }
    }

    /// - Parameter arguments: Appends what comes between the stream and the place.
    private func notify(
        _ method: String,
        at place: InputPlace,
        _ arguments: (BusMessage) throws(BusError) -> Void
    ) throws(InputFailure) {
        try Self.explaining { () throws(BusError) in
            try desktop.notify(method, onStream: true) { message throws(BusError) in
                try arguments(message)
                try message.append(place.x * Double(place.width))
                try message.append(place.y * Double(place.height))
            }
        }
    }

    private static func explaining<Value>(_ body: () throws(BusError) -> Value) throws(InputFailure) -> Value {
        do throws(BusError) {
            return try body()
        } catch {
            switch error {
            case .refused(_, let message): throw .lost("Mutter refused: \(message).")
            case .timeout: throw .lost("Mutter did not answer in time.")
            case .noBus, .stopped, .malformed: throw .lost(SourceError(bus: error).detail)
            }
        }
    }
}
