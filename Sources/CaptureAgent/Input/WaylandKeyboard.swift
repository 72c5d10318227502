import CWayland
import Glibc

/// Follows the keymap that the compositor gives its Wayland clients. Used in one thread.
final class WaylandKeyboard {
    private static let keyboardCapability = UInt32(WL_SEAT_CAPABILITY_KEYBOARD.rawValue)
    /// The largest keymap that is read, in bytes. Usual ones have 50 KiB.
    private static let largestKeymap = 4 << 20

    private let connection: WaylandConnection
    private let seat: OpaquePointer
    private var keyboard: OpaquePointer?
    /// The layout; `nil` until the compositor has a keyboard.
    private(set) var keymap: DesktopKeymap?

    /// - Returns: `nil` without a connection to the compositor, or without a seat.
    init?() {
        guard let connection = try? WaylandConnection() else { return nil }
        guard let global = connection.globals.first(where: { $0.interface == "wl_seat" }),
            let seat = cwayland_bind_seat(connection.registry, global.name)
        else {
            connection.close()
            return nil
        }
        (self.connection, self.seat) = (connection, seat)
        wl_seat_add_listener(seat, seatEvents, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Waits until there is a keymap.
    ///
    /// - Parameter deadline: In monotonic ns.
    func waitForKeymap(until deadline: UInt64) {
        _ = try? connection.handleEvents(until: deadline) { keymap != nil }
    }

    /// Takes a changed keymap.
    func refresh() {
        try? connection.processEvents()
    }

    /// Waits until the compositor has handled what came before.
    func roundTrip() {
        try? connection.roundTrip()
    }

    /// Ends the connection. Must be called once.
    func close() {
        connection.close()
    }

    fileprivate func capabilitiesChanged(_ capabilities: UInt32) {
        guard capabilities & Self.keyboardCapability != 0, keyboard == nil else { return }
        keyboard = wl_seat_get_keyboard(seat)
        guard let keyboard else { return }
        wl_keyboard_add_listener(keyboard, keyboardEvents, Unmanaged.passUnretained(self).toOpaque())
    }

    fileprivate func keymapChanged(_ descriptor: Int32, size: UInt32) {
        defer { Glibc.close(descriptor) }
        guard size > 0, size <= Self.largestKeymap else { return }
        var text = [UInt8](repeating: 0, count: Int(size))
        var count = 0
        while count < text.count {
            let result = text.withUnsafeMutableBytes { bytes in
                pread(descriptor, bytes.baseAddress?.advanced(by: count), bytes.count - count, off_t(count))
            }
            if result < 0, errno == EINTR { continue }
            guard result > 0 else { return }
            count += result
        }
        // The text ends with a 0.
        if let changed = DesktopKeymap(Array(text.prefix { $0 != 0 })) { keymap = changed }
    }
}

// `nonisolated(unsafe)` because these tables are never written.

nonisolated(unsafe) private let seatEvents = permanent(
    wl_seat_listener(
        capabilities: { data, _, capabilities in data.map(owner)?.capabilitiesChanged(capabilities) },
        name: { _, _, _ in }
    )
)

nonisolated(unsafe) private let keyboardEvents = permanent(
    wl_keyboard_listener(
        keymap: { data, _, _, descriptor, size in data.map(owner)?.keymapChanged(descriptor, size: size) },
        enter: { _, _, _, _, _ in },
        leave: { _, _, _, _ in },
        key: { _, _, _, _, _, _ in },
        modifiers: { _, _, _, _, _, _, _ in },
        repeat_info: { _, _, _, _ in }
    )
)

/// Returns the keyboard from a listener's data pointer. It outlives its listeners, because only it dispatches them.
private func owner(_ data: UnsafeMutableRawPointer) -> WaylandKeyboard {
    Unmanaged<WaylandKeyboard>.fromOpaque(data).takeUnretainedValue()
}
