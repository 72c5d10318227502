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

    /// A place where no window is: Mutter takes the point right after the screen's last one. For a place left of the
    /// screen or above it, Mutter takes the screen's first point, where a window may be.
    private static let nowhere = InputPlace(x: 1, y: 1, width: 32_767, height: 32_767)

    package let capabilities: InputCapabilities

    private let desktop: MutterRemoteDesktop
    private let keyboard: WaylandKeyboard?
    private var keys = DesktopKeys()
    private var touches: Set<UInt8> = []
    private var hasTouchscreen = false

    /// - Parameter screen: What the source captures. A virtual screen must exist already.
    package init(screen: MutterSource.Screen) throws(InputFailure) {
        let desktop = try Self.explaining { () throws(BusError) in try MutterRemoteDesktop(screen) }
        self.desktop = desktop
        capabilities = Self.capabilities(of: desktop.devices)
        // Without a Wayland connection the layout stays unknown.
        keyboard = WaylandKeyboard()
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

    package func startGuard() throws(InputFailure) -> any InputGuarding {
        try InputGuard(endsAgent: true, session: desktop.shared)
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
        try notify(isDown ? keys.press(keysym, by: try key(of: keysym)) : keys.release(keysym))
    }

    package func type(_ text: String, stop: Event) throws(InputFailure) -> UInt64 {
        try keys.type(text, every: Self.pace, stop: stop, key: key(of:), send: notify)
    }

    package func flush() throws(InputFailure) {
        try Self.explaining { () throws(BusError) in try desktop.finish() }
        keyboard?.roundTrip()
    }

    package func close() {
        if hasTouchscreen { try? liftAll() }
        desktop.close()
        keyboard?.close()
    }

    /// Lifts what is down, because nothing else can once the session has ended, and waits until Mutter has handled it:
    /// ``MutterSession/settle()``. A compositor that hangs gets no more time than for the end of the session.
    private func liftAll() throws(BusError) {
        let limit = MutterRemoteDesktop.closeTimeout
        for finger in touches { try desktop.notify("NotifyTouchUp", timeout: limit, Self.slot(finger)) }
        try desktop.finish(timeout: limit)
        MonotonicClock.sleep(MutterSession.settling)
        try desktop.finish(timeout: limit)
    }

    // MARK: - Devices

    /// Has Mutter make its pointer and its keyboard, whose first events would be lost to programs.
    private func makeDevices() throws(InputFailure) {
        if capabilities.pointer { try movePointer(dx: 0, dy: 0) }
        if capabilities.keyboard {
            try notify(keys.tap(.keysym(Self.voidKeysym)))
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

    private func key(of keysym: UInt32) throws(InputFailure) -> DesktopKey {
        keyboard?.refresh()
        return try .making(keysym, with: keyboard?.keymap, of: "Mutter")
    }

    private func notify(_ events: [DesktopKeys.Event]) throws(InputFailure) {
        for event in events {
            let (method, number, isDown) = event.notification
            try notify(method) { message throws(BusError) in
                try message.append(number)
                try message.append(isDown)
            }
        }
    }

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
