import CWayland
import Glibc
import Media
package import Wire

/// Input for a wlroots-based compositor: a virtual pointer and a virtual keyboard, each made when it is first needed.
package final class WlrootsInput: InputBackend {
    package static let capabilities = InputCapabilities(
        backend: "wlroots",
        pointer: true,
        keyboard: true,
        smoothScroll: true,
        anyCharacter: true
    )

    /// How long programs may take to use a kind of device that the desktop had none of before, in ns. What the desktop
    /// gets earlier is lost.
    static let patience: UInt64 = .milliseconds(200)
    /// The parts of a pixel that places are rounded to.
    private static let fraction = 256.0
    private static let fixedOne = 256.0

    private let connection: WaylandConnection
    private let seat: WaylandSeat
    private let pointers: OpaquePointer
    private let keyboards: OpaquePointer
    /// The captured monitor's name; `nil` if the source does not say.
    private let output: String?
    /// The pointer, and the output that its places are on.
    private var pointer: (proxy: OpaquePointer, output: UInt32)?
    private var madeKeyboard: VirtualKeyboard?

    package var capabilities: InputCapabilities { Self.capabilities }

    package func startGuard() throws(InputFailure) -> any InputGuarding { try InputGuard(endsAgent: true) }

    /// Returns whether the compositor of WAYLAND_DISPLAY has virtual devices.
    static func isAvailable() throws(SourceError) -> Bool {
        let connection = try WaylandConnection()
        defer { connection.close() }
        return connection.global(cwayland_virtual_pointer_manager_name).map { $0.version >= 2 } ?? false
            && connection.global(cwayland_virtual_keyboard_manager_name) != nil && connection.global("wl_seat") != nil
    }

    /// - Parameter output: The captured monitor's name; `nil` if the source does not say.
    package init(output: String?) throws(InputFailure) {
        let connection = try InputFailure.explaining { () throws(SourceError) in try WaylandConnection() }
        let registry = connection.registry
        guard let pointerGlobal = connection.global(cwayland_virtual_pointer_manager_name),
            pointerGlobal.version >= 2,
            let keyboardGlobal = connection.global(cwayland_virtual_keyboard_manager_name),
            let seatGlobal = connection.global("wl_seat"),
            let pointers = cwayland_bind_virtual_pointer_manager(registry, pointerGlobal.name),
            let keyboards = cwayland_bind_virtual_keyboard_manager(registry, keyboardGlobal.name),
            let seat = cwayland_bind_seat(registry, seatGlobal.name)
        else {
            connection.close()
            throw .unsupported("The Wayland compositor has no virtual devices.")
        }
        (self.pointers, self.keyboards, self.seat) = (pointers, keyboards, WaylandSeat(seat))
        (self.connection, self.output) = (connection, output)
    }

    package func close() {
        if let pointer { cwayland_virtual_pointer_destroy(pointer.proxy) }
        madeKeyboard?.destroy()
        (pointer, madeKeyboard) = (nil, nil)
        // Sends what waits; a compositor that is gone needs nothing.
        try? connection.roundTrip()
        connection.close()
    }

    package func prepare(_ device: InputDevice) throws(InputFailure) {
        switch device {
        case .pointer: _ = try anyPointer()
        case .keyboard: _ = try keyboard()
        case .touch: break
        }
    }

    package func flush() throws(InputFailure) {
        try InputFailure.explaining(connection.roundTrip)
    }

    // MARK: - Pointer

    package func movePointer(to place: InputPlace) throws(InputFailure) {
        try InputFailure.explaining(connection.processEvents)
        let frame = PictureSize(width: place.width, height: place.height)
        let output = try captured(frame)
        let pointer = try pointer(on: output)
        // The finest places that the monitor's longer side allows, for both axes.
        let extent = (Double(max(frame.width, frame.height)) * Self.fraction).rounded()
        cwayland_virtual_pointer_place(
            pointer,
            Self.time,
            Self.part(place.x, of: extent),
            Self.part(place.y, of: extent),
            UInt32(extent),
            UInt32(extent)
        )
    }

    package func movePointer(dx: Double, dy: Double) throws(InputFailure) {
        try InputFailure.explaining(connection.processEvents)
        let output = try anyOutput()
        let (x, y) = OutputTurn(turns: output.orientation, isMirrored: output.isMirrored).distance(dx: dx, dy: dy)
        let scale = Double(output.scale)
        cwayland_virtual_pointer_move(
            try pointer(on: output),
            Self.time,
            Self.fixed(x / scale),
            Self.fixed(y / scale)
        )
    }

    package func setButton(_ code: UInt16, isDown: Bool) throws(InputFailure) {
        cwayland_virtual_pointer_button(try anyPointer(), Self.time, UInt32(code), isDown ? 1 : 0)
    }

    package func scroll(dx: Double, dy: Double) throws(InputFailure) {
        cwayland_virtual_pointer_scroll(try anyPointer(), Self.time, Self.fixed(dx), Self.fixed(dy))
    }

    package func touch(_ id: UInt8, _ phase: InputStep.TouchPhase, at place: InputPlace) throws(InputFailure) {
        throw .unsupported("Compositors of wlroots have no virtual touch screen.")
    }

    /// Returns the captured monitor.
    ///
    /// - Parameter frame: The size of its frames.
    private func captured(_ frame: PictureSize) throws(InputFailure) -> WaylandOutput {
        let outputs = connection.outputs
        if let output {
            guard let found = outputs.first(where: { $0.name == output }) else {
                throw .unsupported("The compositor has no monitor \(output).")
            }
            return found
        }
        let turned = PictureSize(width: frame.height, height: frame.width)
        let fitting = outputs.count == 1 ? outputs : outputs.filter { $0.size == frame || $0.size == turned }
        guard fitting.count == 1, let found = fitting.first else {
            throw .unsupported(
                "The desktop has \(outputs.count) monitors, and the source does not say which one it shows. Capture one "
                    + "by name: source screenshot with its output."
            )
        }
        return found
    }

    /// Returns the monitor of the pointer, or one that a pointer may be on.
    private func anyOutput() throws(InputFailure) -> WaylandOutput {
        let outputs = connection.outputs
        let known = outputs.first { $0.global == pointer?.output } ?? outputs.first { $0.name == output }
        guard let found = known ?? outputs.first else { throw .unsupported("The compositor has no monitor.") }
        return found
    }

    private func anyPointer() throws(InputFailure) -> OpaquePointer {
        if let pointer { return pointer.proxy }
        try InputFailure.explaining(connection.processEvents)
        return try pointer(on: try anyOutput())
    }

    private func pointer(on output: WaylandOutput) throws(InputFailure) -> OpaquePointer {
        if let pointer, pointer.output == output.global { return pointer.proxy }
        try waitForSeat()
        let hadPointer = seat.hasPointer
        guard let proxy = cwayland_create_virtual_pointer(pointers, seat.proxy, output.proxy) else {
            throw .lost("There is no memory for a virtual pointer.")
        }
        // A second pointer takes over, so that the seat never loses its last one.
        if let pointer { cwayland_virtual_pointer_destroy(pointer.proxy) }
        pointer = (proxy, output.global)
        if !hadPointer { try waitForPrograms() }
        return proxy
    }

    // MARK: - Keyboard

    package func setKey(_ keysym: UInt32, isDown: Bool) throws(InputFailure) {
        try keyboard().setKey(keysym, isDown: isDown)
    }

    package func type(_ text: String, stop: Event) throws(InputFailure) -> UInt64 {
        try keyboard().type(try Keysym.typing(text), stop: stop)
    }

    private func keyboard() throws(InputFailure) -> VirtualKeyboard {
        if let madeKeyboard { return madeKeyboard }
        try waitForSeat()
        let hadKeyboard = seat.hasKeyboard
        guard let proxy = cwayland_create_virtual_keyboard(keyboards, seat.proxy) else {
            throw .lost("There is no memory for a virtual keyboard.")
        }
        let keyboard = try VirtualKeyboard(proxy, on: connection)
        madeKeyboard = keyboard
        if !hadKeyboard { try waitForPrograms() }
        return keyboard
    }

    // MARK: - Private

    /// Waits until the seat has said which devices it has.
    private func waitForSeat() throws(InputFailure) {
        if !seat.isKnown { try flush() }
    }

    private func waitForPrograms() throws(InputFailure) {
        let connection = connection
        try InputFailure.explaining { () throws(SourceError) in
            try connection.roundTrip()
            _ = try connection.handleEvents(until: MonotonicClock.now + Self.patience) { false }
        }
    }

    /// The time of an event, in ms.
    static var time: UInt32 { UInt32(truncatingIfNeeded: MonotonicClock.now / 1_000_000) }

    private static func part(_ share: Double, of extent: Double) -> UInt32 {
        UInt32(min(max((share * extent).rounded(), 0), extent - 1))
    }

    private static func fixed(_ number: Double) -> wl_fixed_t {
        wl_fixed_t((min(max(number, -65_536), 65_536) * fixedOne).rounded())
    }
}
