import CXCB
import Glibc
import Media
package import Wire

/// Input through XTEST of the X server of DISPLAY.
package final class X11Input: InputBackend {
    /// How long programs get to read a changed keyboard, in ns.
    private static let settling: UInt64 = .milliseconds(50)
    /// The time from character to character, in ns.
    private static let pace: UInt64 = .milliseconds(1)
    /// The pixels of a wheel's notch.
    private static let notch = 120.0

    /// A key that is held down.
    private struct Press {
        var keycode: UInt8
        /// The modifiers that were pressed for it.
        var modifiers: [UInt8]
    }

    package static let capabilities = InputCapabilities(
        backend: "x11",
        pointer: true,
        keyboard: true,
        anyCharacter: true
    )
    package var capabilities: InputCapabilities { Self.capabilities }

    package func startGuard() throws(InputFailure) -> any InputGuarding {
        // A release by any client counts.
        try InputGuard(endsAgent: false)
    }

    private let connection: X11Connection
    private let screen: X11Screen
    /// The layout without the spare keycodes, whose keysyms are in ``spares`` alone.
    private var keyboard: KeyboardLayout
    private var spares: X11SpareKeys
    private var isKeyboardChanged = false
    private var presses: [UInt32: Press] = [:]
    /// The parts of a pixel that relative motion has left.
    private var rest = (x: 0.0, y: 0.0)

    /// - Parameter output: The name of the monitor that is captured; `nil` for the whole screen.
    package init(output: String? = nil) throws(InputFailure) {
        let connection = try InputFailure.explaining(X11Connection.forInput)
        do throws(InputFailure) {
            let layout: KeyboardLayout
            (screen, layout) = try InputFailure.explaining { () throws(SourceError) in
                (try X11Screen(connection, output: output), try connection.keyboard())
            }
            spares = X11SpareKeys(layout)
            keyboard = layout.without(spares.keycodes)
        } catch {
            connection.close()
            throw error
        }
        self.connection = connection
    }

    /// Does nothing: the server's XTEST devices always exist.
    package func prepare(_ device: InputDevice) {}

    // MARK: - Pointer

    package func movePointer(to place: InputPlace) throws(InputFailure) {
        let area = try InputFailure.explaining { () throws(SourceError) in try screen.area(stop: nil) }
        guard let area else { throw .lost("The X server does not tell its screen's size.") }
        let (width, height) = (area.size.width, area.size.height)
        guard width == place.width, height == place.height else {
            throw .moved("The screen is \(area.size) and not as in the picture.")
        }
        // The pointer is at a pixel, whose fractions begin at its left and upper edges.
        let x = min(max(Int((place.x * Double(width)).rounded(.down)), 0), width - 1)
        let y = min(max(Int((place.y * Double(height)).rounded(.down)), 0), height - 1)
        rest = (0, 0)
        connection.fake(XCB_MOTION_NOTIFY, 0, x: Int16(clamping: area.x + x), y: Int16(clamping: area.y + y))
        try send()
    }

    package func movePointer(dx: Double, dy: Double) throws(InputFailure) {
        let (x, y) = (dx + rest.x, dy + rest.y)
        let whole = (x: x.rounded(.towardZero), y: y.rounded(.towardZero))
        rest = (x - whole.x, y - whole.y)
        connection.fake(XCB_MOTION_NOTIFY, 1, x: Int16(clamping: Int(whole.x)), y: Int16(clamping: Int(whole.y)))
        try send()
    }

    package func setButton(_ code: UInt16, isDown: Bool) throws(InputFailure) {
        connection.fake(isDown ? XCB_BUTTON_PRESS : XCB_BUTTON_RELEASE, try Self.button(code))
        try send()
    }

    package func scroll(dx: Double, dy: Double) throws(InputFailure) {
        for (distance, back, forth) in [(dx, UInt8(6), UInt8(7)), (dy, 4, 5)] where distance != 0 {
            let notches = max(1, Int((abs(distance) / Self.notch).rounded()))
            for _ in 0..<notches {
                connection.fake(XCB_BUTTON_PRESS, distance < 0 ? back : forth)
                connection.fake(XCB_BUTTON_RELEASE, distance < 0 ? back : forth)
            }
        }
        try send()
    }

    package func touch(_ id: UInt8, _ phase: InputStep.TouchPhase, at place: InputPlace) throws(InputFailure) {
        throw .unsupported("XTEST has no touch. Use the pointer.")
    }

    // MARK: - Keys

    package func setKey(_ keysym: UInt32, isDown: Bool) throws(InputFailure) {
        let keysym = try Keysym.ofKey(keysym)
        try InputFailure.explaining { () throws(SourceError) in try readKeyboard() }
        if !isDown { return try release(keysym) }
        guard presses[keysym] == nil else { return }
        let state = try InputFailure.explaining { () throws(SourceError) in try connection.keyboardState() }
        var press: Press
        if let key = keyboard.key(for: keysym, group: state.group) {
            let levelModifiers = modifiers(of: key.level)
            // A level that the caller already holds the modifiers for.
            press = Press(keycode: key.keycode, modifiers: levelModifiers.filter { !isHeld($0) })
            if key.level & 1 != 0, state.modifiers & UInt16(XCB_MOD_MASK_SHIFT.rawValue) != 0 {
                press.modifiers.removeAll { $0 == keyboard.keycode(of: KeyboardLayout.shift) }
            }
        } else {
            guard let (keycode, changes) = spares.assign(keysym) else { throw Self.noKeycode(keysym) }
            if changes { try change([keycode: keysym]) }
            press = Press(keycode: keycode, modifiers: [])
        }
        spares.setHeld(press.keycode, true)
        for modifier in press.modifiers { connection.fake(XCB_KEY_PRESS, modifier) }
        connection.fake(XCB_KEY_PRESS, press.keycode)
        presses[keysym] = press
        try send()
    }

    package func type(_ text: String, stop: Event) throws(InputFailure) -> UInt64 {
        let keysyms = try Keysym.typing(text)
        var place = 0
        var next = MonotonicClock.now
        var last = next
        while place < keysyms.count {
            try InputFailure.explaining { () throws(SourceError) in try readKeyboard() }
            let group = try InputFailure.explaining { () throws(SourceError) in
                try connection.keyboardState().group
            }
            let keys = keysyms[place...].lazy.map { self.keyboard.key(for: $0, group: group) == nil ? $0 : nil }
            guard let stretch = spares.stretch(keys) else { throw Self.noKeycode(keysyms[place]) }
            if !stretch.changes.isEmpty { try change(stretch.changes) }
            next = max(next, MonotonicClock.now)
            for keysym in keysyms[place...].prefix(stretch.count) {
                if stop.wait(until: next) { return last }
                next += Self.pace
                last = MonotonicClock.now
                try tap(keysym, group: group)
            }
            place += stretch.count
        }
        return last
    }

    package func flush() throws(InputFailure) {
        try InputFailure.explaining { () throws(SourceError) in try connection.finish() }
    }

    package func close() {
        if !spares.assigned.isEmpty {
            // Programs must have handled the last keys before their keycodes lose their keysyms.
            MonotonicClock.sleep(Self.settling)
            connection.change(spares.assigned.mapValues { _ in 0 })
            try? connection.finish()
        }
        connection.close()
    }

    // MARK: - Private

    /// Presses and releases a key with its modifiers in one write, so that the end of the process leaves none held.
    private func tap(_ keysym: UInt32, group: Int) throws(InputFailure) {
        let (keycode, held): (UInt8, [UInt8])
        if let key = keyboard.key(for: keysym, group: group) {
            (keycode, held) = (key.keycode, modifiers(of: key.level).filter { !isHeld($0) })
        } else if let spare = spares.keycode(of: keysym) {
            (keycode, held) = (spare, [])
        } else {
            throw Self.noKeycode(keysym)
        }
        for modifier in held { connection.fake(XCB_KEY_PRESS, modifier) }
        connection.fake(XCB_KEY_PRESS, keycode)
        connection.fake(XCB_KEY_RELEASE, keycode)
        for modifier in held.reversed() { connection.fake(XCB_KEY_RELEASE, modifier) }
        try send()
    }

    private func release(_ keysym: UInt32) throws(InputFailure) {
        guard let press = presses.removeValue(forKey: keysym) else { return }
        connection.fake(XCB_KEY_RELEASE, press.keycode)
        for modifier in press.modifiers.reversed() where !isHeld(modifier) {
            connection.fake(XCB_KEY_RELEASE, modifier)
        }
        spares.setHeld(press.keycode, false)
        try send()
    }

    private func isHeld(_ keycode: UInt8) -> Bool {
        presses.values.contains { $0.keycode == keycode || $0.modifiers.contains(keycode) }
    }

    private func modifiers(of level: Int) -> [UInt8] {
        var modifiers: [UInt8] = []
        if level & 1 != 0, let keycode = keyboard.keycode(of: KeyboardLayout.shift) { modifiers.append(keycode) }
        if level & 2 != 0, let keycode = keyboard.keycode(of: KeyboardLayout.levelThreeShift) {
            modifiers.append(keycode)
        }
        return modifiers
    }

    /// Gives spare keycodes keysyms and waits until programs know.
    private func change(_ keycodes: [UInt8: UInt32]) throws(InputFailure) {
        connection.change(keycodes)
        try flush()
        MonotonicClock.sleep(Self.settling)
    }

    /// Reads the keyboard again if it has changed, for example because a person has chosen another layout.
    private func readKeyboard() throws(SourceError) {
        while let event = xcb_poll_for_event(connection.handle) {
            if Int32(event.pointee.response_type & 0x7F) == XCB_MAPPING_NOTIFY { isKeyboardChanged = true }
            free(event)
        }
        guard isKeyboardChanged else { return }
        isKeyboardChanged = false
        let layout = try connection.keyboard()
        spares.follow(layout)
        keyboard = layout.without(spares.keycodes)
    }

    private func send() throws(InputFailure) {
        guard xcb_flush(connection.handle) > 0, xcb_connection_has_error(connection.handle) == 0 else {
            throw .lost("The connection to the X server broke.")
        }
    }

    private static func noKeycode(_ keysym: UInt32) -> InputFailure {
        .unsupported("The X server's keyboard has no free keycode for \(Keysym.name(keysym)).")
    }

    /// Translates a button. X's buttons 4 to 7 are the wheel.
    static func button(_ code: UInt16) throws(InputFailure) -> UInt8 {
        switch code {
        case 0x110: 1
        case 0x111: 3
        case 0x112: 2
        case 0x113...0x117: UInt8(truncatingIfNeeded: code - 0x113 + 8)
        default: throw .unsupported("The pointer has no button \(code). Buttons are 272 (left) to 279.")
        }
    }
}
