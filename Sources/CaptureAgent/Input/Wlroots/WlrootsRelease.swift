import CWayland
import Wire

/// Releases what another process holds, through a virtual pointer of a wlroots-based compositor.
///
/// The compositor releases the keys of a process that has ended by itself, but not its buttons. A release from any
/// pointer counts.
enum WlrootsRelease {
    /// Does nothing on other compositors, which release everything by themselves.
    static func run(_ items: [HeldInput.Item]) throws(SourceError) {
        let connection = try WaylandConnection()
        defer { connection.close() }
        guard let manager = connection.global(cwayland_virtual_pointer_manager_name),
            let global = connection.global("wl_seat"), let output = connection.outputs.first,
            let pointers = cwayland_bind_virtual_pointer_manager(connection.registry, manager.name),
            let proxy = cwayland_bind_seat(connection.registry, global.name)
        else { return }
        let seat = WaylandSeat(proxy)
        defer { withExtendedLifetime(seat) {} }
        try connection.roundTrip()
        let hadPointer = seat.hasPointer
        guard let pointer = cwayland_create_virtual_pointer(pointers, proxy, output.proxy) else { return }
        if !hadPointer {
            // The dead process had the seat's only pointer. Programs get events once they use the new one.
            try connection.roundTrip()
            MonotonicClock.sleep(WlrootsInput.patience)
        }
        for case .button(let code) in items.reversed() {
            cwayland_virtual_pointer_button(pointer, WlrootsInput.time, UInt32(code), 0)
        }
        try connection.roundTrip()
    }
}
