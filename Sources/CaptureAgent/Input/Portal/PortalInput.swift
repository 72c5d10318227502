import Wire

/// Input through a session of the desktop's portal.
final class PortalInput: InputBackend {
    /// How long the desktop and programs get to notice a new device, in ns. Desktops make devices at their first event.
    private static let settling: UInt64 = .milliseconds(200)
    /// How long the compositor gets to announce its keyboard, in ns.
    private static let keymapTimeout: UInt64 = .milliseconds(1_000)
    /// The time from character to character, in ns.
    private static let pace: UInt64 = .milliseconds(1)
    /// The most fingers. Mutter has that many slots.
    private static let fingers: UInt8 = 32
    /// A keysym without a key. Desktops make the keyboard and drop the event.
    private static let voidKeysym: UInt32 = 0xFF_FFFF
    /// How much the shapes of the shared and the captured screen may differ. A scaled size is rounded.
    private static let shapeTolerance = 0.02

    let capabilities: InputCapabilities

    private let session: RemoteDesktopPortal
    private let closed: Event
    private let keyboard: WaylandKeyboard?
    private var keys = DesktopKeys()
    private var touches: Set<UInt8> = []
    private var prepared: Set<InputDevice> = []

    /// - Parameter closed: Set after the session is given up.
    init(_ session: RemoteDesktopPortal, closed: Event) {
        (self.session, self.closed) = (session, closed)
        capabilities = Self.capabilities(of: session)
        // Without a Wayland connection the layout stays unknown.
        keyboard = WaylandKeyboard()
    }

    static func capabilities(of session: RemoteDesktopPortal) -> InputCapabilities {
        capabilities(of: session.devices, hasScreen: session.stream != nil)
    }

    /// - Parameters:
    ///   - devices: Those that a person has allowed, of ``RemoteDesktopPortal/Device``.
    ///   - hasScreen: Whether the person has shared a screen, in which places are.
    static func capabilities(of devices: UInt32, hasScreen: Bool) -> InputCapabilities {
        func has(_ device: UInt32) -> Bool { devices & device != 0 }
        let pointer = hasScreen && has(RemoteDesktopPortal.Device.pointer)
        let touch = hasScreen && has(RemoteDesktopPortal.Device.touch)
        let keyboard = has(RemoteDesktopPortal.Device.keyboard)
        guard pointer || touch || keyboard else {
            return InputCapabilities(
                backend: InputCapabilities.none,
                problem:
                    "A person has allowed no devices in the desktop's dialog. To be asked again, stop the broadcast "
                    + "and start it."
            )
        }
        return InputCapabilities(
            backend: "portal",
            pointer: pointer,
            keyboard: keyboard,
            touch: touch,
            smoothScroll: pointer
        )
    }

    func startGuard() throws(InputFailure) -> any InputGuarding {
        // The desktop releases what a session holds when the session's program ends.
        try InputGuard(endsAgent: true)
    }

    func prepare(_ device: InputDevice) throws(InputFailure) {
        guard prepared.insert(device).inserted else { return }
        switch device {
        case .pointer: try movePointer(dx: 0, dy: 0)
        case .keyboard:
            try notify(keys.tap(.keysym(Self.voidKeysym)))
            keyboard?.waitForKeymap(until: MonotonicClock.now + Self.keymapTimeout)
        // A touch would do something wherever it is.
        case .touch: return
        }
        MonotonicClock.sleep(Self.settling)
    }

    // MARK: - Pointer

    func movePointer(to place: InputPlace) throws(InputFailure) {
        let place = try onStream(place)
        try notify("NotifyPointerMotionAbsolute") { message throws(BusError) in
            try message.append(place.node)
            try message.append(place.x)
            try message.append(place.y)
        }
    }

    func movePointer(dx: Double, dy: Double) throws(InputFailure) {
        try notify("NotifyPointerMotion") { message throws(BusError) in
            try message.append(dx)
            try message.append(dy)
        }
    }

    func setButton(_ code: UInt16, isDown: Bool) throws(InputFailure) {
        try notify("NotifyPointerButton") { message throws(BusError) in
            try message.append(signed: Int32(code))
            try message.append(UInt32(isDown ? 1 : 0))
        }
    }

    func scroll(dx: Double, dy: Double) throws(InputFailure) {
        // Never finished, because programs scroll on after that.
        try notify("NotifyPointerAxis") { message throws(BusError) in
            try message.append(dx)
            try message.append(dy)
        }
    }

    func touch(_ id: UInt8, _ phase: InputStep.TouchPhase, at place: InputPlace) throws(InputFailure) {
        guard id < Self.fingers else { throw .unsupported("The portal takes the fingers 0 to 31, not \(id).") }
        switch phase {
        case .down:
            guard touches.insert(id).inserted else { return }
            try notify("NotifyTouchDown", id, at: place)
        case .move:
            guard touches.contains(id) else { return }
            try notify("NotifyTouchMotion", id, at: place)
        // The portal cannot cancel a touch.
        case .up, .cancel:
            guard touches.remove(id) != nil else { return }
            try notify("NotifyTouchUp") { message throws(BusError) in try message.append(UInt32(id)) }
        }
    }

    // MARK: - Keys

    func setKey(_ keysym: UInt32, isDown: Bool) throws(InputFailure) {
        try notify(isDown ? keys.press(keysym, by: try key(of: keysym)) : keys.release(keysym))
    }

    func type(_ text: String, stop: Event) throws(InputFailure) -> UInt64 {
        try keys.type(text, every: Self.pace, stop: stop, key: key(of:), send: notify)
    }

    func flush() throws(InputFailure) {
        // The portal answers each event when it has passed it on.
        guard session.look() == nil else { throw Self.ended }
    }

    func close() {
        keyboard?.close()
        session.giveUp()
        closed.set()
    }

    // MARK: - Private

    private static let ended = InputFailure.lost("The desktop has ended the permission to act.")

    /// Returns a place in the stream, in the desktop's own pixels.
    private func onStream(_ place: InputPlace) throws(InputFailure) -> (node: UInt32, x: Double, y: Double) {
        guard let stream = session.stream else { throw .unsupported("A person has shared no screen to act on.") }
        let size = stream.size ?? (width: place.width, height: place.height)
        let shape = Double(size.width * place.height) / Double(max(size.height * place.width, 1))
        guard abs(shape - 1) <= Self.shapeTolerance else {
            throw .unsupported(
                "The screen that was shared for acting has \(size.width)x\(size.height) pixels, and the captured one "
                    + "\(place.width)x\(place.height). Stop the broadcast, start it, and choose the same screen in both dialogs."
            )
        }
        return (stream.node, place.x * Double(size.width), place.y * Double(size.height))
    }

    private func notify(_ method: String, _ id: UInt8, at place: InputPlace) throws(InputFailure) {
        let place = try onStream(place)
        try notify(method) { message throws(BusError) in
            try message.append(place.node)
            try message.append(UInt32(id))
            try message.append(place.x)
            try message.append(place.y)
        }
    }

    private func key(of keysym: UInt32) throws(InputFailure) -> DesktopKey {
        keyboard?.refresh()
        return try .making(keysym, with: keyboard?.keymap, of: "The desktop")
    }

    private func notify(_ events: [DesktopKeys.Event]) throws(InputFailure) {
        for event in events {
            let (method, number, isDown) = event.notification
            try notify(method) { message throws(BusError) in
                try message.append(signed: Int32(truncatingIfNeeded: number))
                try message.append(UInt32(isDown ? 1 : 0))
            }
        }
    }

    private func notify(
        _ method: String,
        _ arguments: (BusMessage) throws(BusError) -> Void
    ) throws(InputFailure) {
        do throws(BusError) {
            try session.notify(method, arguments)
        } catch {
            if session.look() != nil { throw Self.ended }
            switch error {
            case .refused(_, let message): throw .unsupported("The desktop's portal refused \(method): \(message).")
            case .timeout: throw .lost("The desktop's portal did not answer in time.")
            case .noBus, .stopped, .malformed: throw .lost(SourceError(bus: error).detail)
            }
        }
    }
}
