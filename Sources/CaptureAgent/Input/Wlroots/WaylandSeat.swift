import CWayland

/// A seat of the compositor, and the devices that it has.
final class WaylandSeat {
    let proxy: OpaquePointer
    fileprivate var capabilities: UInt32?

    init(_ proxy: OpaquePointer) {
        self.proxy = proxy
        wl_seat_add_listener(proxy, seatEvents, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Returns whether nobody sits at the compositor of WAYLAND_DISPLAY: its seat has no devices. Virtual ones count.
    static func isDeserted() throws(SourceError) -> Bool {
        let connection = try WaylandConnection()
        defer { connection.close() }
        guard let global = connection.global("wl_seat"),
            let seat = cwayland_bind_seat(connection.registry, global.name).map(WaylandSeat.init)
        else { return true }
        try connection.roundTrip()
        return withExtendedLifetime(seat) { seat.capabilities ?? 0 } == 0
    }

    var isKnown: Bool { capabilities != nil }
    var hasPointer: Bool { (capabilities ?? 0) & WL_SEAT_CAPABILITY_POINTER.rawValue != 0 }
    var hasKeyboard: Bool { (capabilities ?? 0) & WL_SEAT_CAPABILITY_KEYBOARD.rawValue != 0 }
}

// `nonisolated(unsafe)` because the table is never written.
nonisolated(unsafe) private let seatEvents = permanent(
    wl_seat_listener(
        capabilities: { data, _, capabilities in
            guard let data else { return }
            // Unretained because the seat outlives its connection, and only that one calls listeners.
            Unmanaged<WaylandSeat>.fromOpaque(data).takeUnretainedValue().capabilities = capabilities
        },
        name: { _, _, _ in }
    )
)
