import CWayland
import Glibc
import Media

/// A monitor of the compositor.
struct WaylandOutput {
    let proxy: OpaquePointer
    /// The output's number in the registry.
    let global: UInt32
    /// The output's name, such as `DP-1`; `nil` if the compositor does not report it.
    var name: String?
    /// The size of the current mode.
    var size: PictureSize?
    /// Clockwise quarter turns, 0 to 3, that make the monitor's picture upright.
    var orientation: UInt8 = 0
    /// Whether the monitor's picture is mirrored, left to right, before it is turned.
    var isMirrored = false
    /// How many pixels of the monitor are one logical pixel, rounded up.
    var scale = 1
}

/// An object that the compositor offers.
struct WaylandGlobal {
    /// Its number in the registry.
    let name: UInt32
    let interface: String
    let version: UInt32
}

/// A connection to a Wayland compositor with its outputs and the objects that screenshots need. Used in one thread.
final class WaylandConnection {
    /// How long the compositor may take to answer, in ns.
    private static let answerTimeout: UInt64 = .milliseconds(3_000)

    private let display: OpaquePointer
    let registry: OpaquePointer
    private(set) var sharedMemory: OpaquePointer?
    private(set) var screencopyManager: OpaquePointer?
    /// Whether the screencopy manager can wait for a change.
    private(set) var reportsChanges = false
    private(set) var outputs: [WaylandOutput] = []
    private(set) var globals: [WaylandGlobal] = []

    /// Connects to the compositor of WAYLAND_DISPLAY and asks for its objects.
    init() throws(SourceError) {
        guard let display = wl_display_connect(nil) else { throw Self.unavailable(String(cString: strerror(errno))) }
        guard let registry = wl_display_get_registry(display) else {
            wl_display_disconnect(display)
            throw Self.unavailable("no memory")
        }
        (self.display, self.registry) = (display, registry)
        wl_registry_add_listener(registry, registryEvents, Unmanaged.passUnretained(self).toOpaque())
        do throws(SourceError) {
            // The first answer names the outputs, the second describes them.
            try roundTrip()
            try roundTrip()
        } catch {
            close()
            throw error
        }
    }

    /// Ends the connection. Must be called once.
    func close() {
        wl_display_disconnect(display)
    }

    /// Returns the object with an interface, if the compositor offers it.
    func global(_ interface: String) -> WaylandGlobal? { globals.first { $0.interface == interface } }

    func global(_ interface: UnsafePointer<CChar>) -> WaylandGlobal? { global(String(cString: interface)) }

    /// A descriptor that is readable when ``processEvents()`` has work.
    var descriptor: Int32 { wl_display_get_fd(display) }

    /// Sends the requests that wait in this process, without waiting.
    func flush() { wl_display_flush(display) }

    /// Handles what the compositor has sent, without waiting.
    func processEvents() throws(SourceError) {
        _ = try handleEvents(until: 0) { false }
    }

    /// Handles what the compositor sends until `isDone` returns `true`.
    ///
    /// - Parameter deadline: In monotonic ns.
    /// - Returns: `false` if one of `events` is set or the deadline is reached first.
    func handleEvents(
        until deadline: UInt64,
        or events: [Event] = [],
        _ isDone: () -> Bool
    ) throws(SourceError) -> Bool {
        while true {
            while wl_display_prepare_read(display) != 0 { try check(wl_display_dispatch_pending(display)) }
            if isDone() {
                wl_display_cancel_read(display)
                return true
            }
            // What does not fit into the socket now is sent as soon as it does.
            let isFull = wl_display_flush(display) < 0 && errno == EAGAIN
            let now = MonotonicClock.now
            let ready = Poll.wait(
                for: [Poll.Interest(descriptor, events: isFull ? POLLIN | POLLOUT : POLLIN)]
                    + events.map { Poll.Interest($0.descriptor) },
                timeout: deadline > now ? deadline - now : 0
            )
            guard ready[0] else {
                wl_display_cancel_read(display)
                if ready.contains(true) || MonotonicClock.now >= deadline { return false }
                continue
            }
            try check(wl_display_read_events(display))
            try check(wl_display_dispatch_pending(display))
        }
    }

    /// Waits until the compositor has handled all requests.
    func roundTrip() throws(SourceError) {
        var isAnswered = false
        guard let callback = wl_display_sync(display) else { throw Self.unavailable("no memory") }
        try withUnsafeMutablePointer(to: &isAnswered) { answered throws(SourceError) in
            wl_callback_add_listener(callback, callbackEvents, answered)
            let deadline = MonotonicClock.now + Self.answerTimeout
            let isInTime = try handleEvents(until: deadline) { answered.pointee }
            wl_callback_destroy(callback)
            guard isInTime else {
                throw .timeout(cause: "compositor_timeout", detail: "The Wayland compositor does not answer.")
            }
        }
    }

    private func check(_ result: Int32) throws(SourceError) {
        guard result < 0 else { return }
        let reason = String(cString: strerror(wl_display_get_error(display)))
        throw .lost(cause: "compositor_gone", detail: "The connection to the Wayland compositor broke: \(reason).")
    }

    private static func unavailable(_ reason: String) -> SourceError {
        .unavailable(
            cause: "compositor_unavailable",
            detail:
                "There is no connection to the Wayland compositor (\(reason)): start the agent inside the desktop's session."
        )
    }

    // MARK: - Events

    fileprivate func globalAdded(_ global: UInt32, interface: String, version: UInt32) {
        globals.append(WaylandGlobal(name: global, interface: interface, version: version))
        switch interface {
        case "wl_shm":
            sharedMemory = cwayland_bind_shm(registry, global)
        case String(cString: cwayland_screencopy_manager_name):
            screencopyManager = cwayland_bind_screencopy_manager(registry, global, min(version, 2))
            reportsChanges = version >= 2
        case "wl_output":
            guard let proxy = cwayland_bind_output(registry, global, min(version, 4)) else { return }
            outputs.append(WaylandOutput(proxy: proxy, global: global))
            wl_output_add_listener(proxy, outputEvents, Unmanaged.passUnretained(self).toOpaque())
        default:
            break
        }
    }

    fileprivate func globalRemoved(_ global: UInt32) {
        globals.removeAll { $0.name == global }
        guard let index = outputs.firstIndex(where: { $0.global == global }) else { return }
        wl_output_destroy(outputs.remove(at: index).proxy)
    }

    fileprivate func updateOutput(_ proxy: OpaquePointer?, _ update: (inout WaylandOutput) -> Void) {
        guard let index = outputs.firstIndex(where: { $0.proxy == proxy }) else { return }
        update(&outputs[index])
    }
}

/// Returns a copy of an event table that is never freed, because libwayland keeps the pointer.
func permanent<Table>(_ table: Table) -> UnsafePointer<Table> {
    let memory = UnsafeMutablePointer<Table>.allocate(capacity: 1)
    memory.initialize(to: table)
    return UnsafePointer(memory)
}

// `nonisolated(unsafe)` because these tables are never written.

nonisolated(unsafe) private let registryEvents = permanent(
    wl_registry_listener(
        global: { data, _, global, interface, version in
            guard let data, let interface else { return }
            connection(data).globalAdded(global, interface: String(cString: interface), version: version)
        },
        global_remove: { data, _, global in data.map(connection)?.globalRemoved(global) }
    )
)

nonisolated(unsafe) private let callbackEvents = permanent(
    wl_callback_listener(done: { data, _, _ in data?.storeBytes(of: true, as: Bool.self) })
)

nonisolated(unsafe) private let outputEvents = permanent(
    wl_output_listener(
        geometry: { data, output, _, _, _, _, _, _, _, transform in
            // Transforms four to seven are mirrored before they are turned; the turn is the same.
            data.map(connection)?.updateOutput(output) {
                $0.orientation = UInt8(truncatingIfNeeded: transform & 3)
                $0.isMirrored = transform & 4 != 0
            }
        },
        mode: { data, output, flags, width, height, _ in
            guard flags & UInt32(WL_OUTPUT_MODE_CURRENT.rawValue) != 0 else { return }
            data.map(connection)?.updateOutput(output) { $0.size = PictureSize(width: Int(width), height: Int(height)) }
        },
        done: { _, _ in },
        scale: { data, output, scale in
            data.map(connection)?.updateOutput(output) { $0.scale = max(1, Int(scale)) }
        },
        name: { data, output, name in
            data.map(connection)?.updateOutput(output) { $0.name = name.map { String(cString: $0) } }
        },
        description: { _, _, _ in }
    )
)

/// Returns the connection from a listener's data pointer. It outlives its listeners, because only it dispatches them.
private func connection(_ data: UnsafeMutableRawPointer) -> WaylandConnection {
    Unmanaged<WaylandConnection>.fromOpaque(data).takeUnretainedValue()
}
