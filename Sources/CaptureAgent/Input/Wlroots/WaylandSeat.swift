import CWayland

/// A seat of the compositor, and the devices that it has.
final class WaylandSeat {
    let proxy: OpaquePointer
    fileprivate var capabilities: UInt32?

    init(_ proxy: OpaquePointer) {
        self.proxy = proxy
        wl_seat_add_listener(proxy, seatEvents, Unmanaged.passUnretained(self).toOpaque())
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
