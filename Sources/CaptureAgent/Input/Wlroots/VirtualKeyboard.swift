import CLinux
import CWayland
import Glibc

/// A keyboard of a wlroots-based compositor, with a keymap that grows with what is typed. Used in one thread.
final class VirtualKeyboard {
    /// How many key strokes are sent at once, and how long that takes at least, in ns: 1,200 a second. A program that
    /// does not read as fast loses its connection.
    private static let strokesAtOnce = 12
    private static let paceOfStrokes: UInt64 = .milliseconds(10)

    private let connection: WaylandConnection
    private let proxy: OpaquePointer
    private var keymap = VirtualKeymap()
    /// The held keys, by the keysym with which they were pressed.
    private var held: [UInt32: UInt32] = [:]
    private var locked: UInt32 = 0

    init(_ proxy: OpaquePointer, on connection: WaylandConnection) throws(InputFailure) {
        self.proxy = proxy
        self.connection = connection
        try sendKeymap()
    }

    func setKey(_ keysym: UInt32, isDown: Bool) throws(InputFailure) {
        let known = try Keysym.ofKey(keysym)
        if isDown {
            if held[known] != nil { return }
            let code = try stroke(known, isExact: false, upcoming: [known]).code
            held[known] = code
            press(code, isDown: true)
        } else if let code = held.removeValue(forKey: known) {
            press(code, isDown: false)
        }
    }

    /// - Returns: The time just before the last keysym, in monotonic ns.
    func type(_ keysyms: [UInt32], stop: Event) throws(InputFailure) -> UInt64 {
        var next = MonotonicClock.now
        var last = next
        var strokes = 0
        for (index, keysym) in keysyms.enumerated() {
            if strokes >= Self.strokesAtOnce {
                try sync()
                next += Self.paceOfStrokes
                if stop.wait(until: next) { return last }
                // A compositor that is late sets the pace.
                next = max(next, MonotonicClock.now - min(MonotonicClock.now, Self.paceOfStrokes))
                strokes = 0
            }
            let stroke = try stroke(keysym, isExact: true, upcoming: keysyms[index...])
            last = MonotonicClock.now
            let adds = stroke.needsShift && !isShifted
            if adds { press(VirtualKeymap.shiftCode, isDown: true, with: VirtualKeymap.Modifier.shift.rawValue) }
            send(key: stroke.code, isDown: true)
            send(key: stroke.code, isDown: false)
            if adds { press(VirtualKeymap.shiftCode, isDown: false) }
            strokes += adds ? 2 : 1
        }
        return last
    }

    /// Lets go of all keys and modifiers, and ends the keyboard.
    func destroy() {
        locked = 0
        for code in held.values { send(key: code, isDown: false) }
        held = [:]
        cwayland_virtual_keyboard_modifiers(proxy, 0, 0)
        cwayland_virtual_keyboard_destroy(proxy)
    }

    // MARK: - Private

    private var depressed: UInt32 {
        held.values.reduce(0) { bits, code in
            guard let modifier = VirtualKeymap.modifiers[code], !modifier.isLocking else { return bits }
            return bits | modifier.rawValue
        }
    }

    private var isShifted: Bool { depressed & VirtualKeymap.Modifier.shift.rawValue != 0 }

    /// Returns how a keysym is typed, and binds keys to it and to those that come next if necessary.
    private func stroke(
        _ keysym: UInt32,
        isExact: Bool,
        upcoming: ArraySlice<UInt32>
    ) throws(InputFailure) -> VirtualKeymap.Stroke {
        let isShifted = isShifted
        if let stroke = keymap.stroke(keysym, isShifted: isShifted, isExact: isExact) { return stroke }
        let kept = Set(held.values).intersection(VirtualKeymap.spareCodes)
        let fixed = VirtualKeymap()
        let needed = upcoming.lazy.filter { fixed.stroke($0, isShifted: isShifted, isExact: isExact) == nil }
        keymap.bind(needed, keeping: kept)
        guard let stroke = keymap.stroke(keysym, isShifted: isShifted, isExact: isExact) else {
            throw .unsupported("Too many keys are held.")
        }
        // Programs still read what was typed with the last keymap.
        try sync()
        try sendKeymap()
        try sync()
        return stroke
    }

    private func sync() throws(InputFailure) {
        try InputFailure.explaining(connection.roundTrip)
    }

    private func sendKeymap() throws(InputFailure) {
        var bytes = Array(keymap.text.utf8)
        bytes.append(0)
        let descriptor = clinux_memfd("heliograph-keymap", Int64(bytes.count))
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else {
            throw .lost("There is no memory for a keymap: \(String(cString: strerror(errno))).")
        }
        cwayland_virtual_keyboard_keymap(proxy, descriptor, UInt32(bytes.count))
        sendModifiers(depressed)
    }

    /// Presses or releases a key together with its modifier.
    ///
    /// - Parameter extra: A modifier that is not held by ``held``.
    private func press(_ code: UInt32, isDown: Bool, with extra: UInt32 = 0) {
        send(key: code, isDown: isDown)
        guard let modifier = VirtualKeymap.modifiers[code] else { return }
        if modifier.isLocking, isDown { locked ^= modifier.rawValue }
        sendModifiers(depressed | extra)
    }

    private func sendModifiers(_ depressed: UInt32) {
        cwayland_virtual_keyboard_modifiers(proxy, depressed, locked)
    }

    private func send(key code: UInt32, isDown: Bool) {
        cwayland_virtual_keyboard_key(proxy, WlrootsInput.time, code, isDown ? 1 : 0)
    }
}
