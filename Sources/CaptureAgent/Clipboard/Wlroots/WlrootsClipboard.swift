import CLinux
import CWayland
import Glibc
import Wire

/// The clipboard of a wlroots-based compositor, by the protocol for clipboard managers, which needs neither a window
/// nor the focus.
final class WlrootsClipboard: ClipboardBackend, ClipboardLoop {
    /// The most types of an offer that are kept.
    private static let largestOffer = 256

    /// Content that the clipboard has, or will have.
    private struct Offer {
        let proxy: OpaquePointer
        var types: [String] = []
    }

    private let connection: WaylandConnection
    private let manager: OpaquePointer
    private let device: OpaquePointer
    /// The offer that was announced last.
    private var announced: Offer?
    /// What the clipboard has; `nil` if it is empty.
    private var current: Offer?
    /// What was set here, while the clipboard has it.
    private var own: (source: OpaquePointer, content: ClipboardContent)?
    private var isSeatGone = false
    private var writes = PipeWrites()

    /// Returns whether the compositor of WAYLAND_DISPLAY has the protocol.
    static func isAvailable() throws(SourceError) -> Bool {
        let connection = try WaylandConnection()
        defer { connection.close() }
        return connection.global(cwayland_data_control_manager_name) != nil && connection.global("wl_seat") != nil
    }

    init() throws(ClipboardFailure) {
        let connection = try ClipboardFailure.explaining { () throws(SourceError) in try WaylandConnection() }
        let registry = connection.registry
        guard let managerGlobal = connection.global(cwayland_data_control_manager_name),
            let seatGlobal = connection.global("wl_seat"),
            let manager = cwayland_bind_data_control_manager(registry, managerGlobal.name),
            let seat = cwayland_bind_seat(registry, seatGlobal.name),
            let device = cwayland_data_control_device(manager, seat)
        else {
            connection.close()
            throw .lost("The Wayland compositor has no data control (zwlr_data_control_manager_v1), or no seat.")
        }
        (self.connection, self.manager, self.device) = (connection, manager, device)
        cwayland_data_device_add_listener(device, deviceEvents, Unmanaged.passUnretained(self).toOpaque())
    }

    func close() {
        writes.close()
        connection.close()
    }

    // MARK: - ClipboardBackend

    func set(_ content: ClipboardContent, stop: Event) throws(ClipboardFailure) {
        guard let source = cwayland_data_control_source(manager) else { throw .lost("There is no memory.") }
        cwayland_data_source_add_listener(source, sourceEvents, Unmanaged.passUnretained(self).toOpaque())
        for type in content.kind.types { cwayland_data_source_offer(source, type) }
        cwayland_data_device_set_selection(device, source)
        // The former source is cancelled by an event that has that one's address.
        let former = own
        own = (source, content)
        if let former { cwayland_data_source_destroy(former.source) }
        try roundTrip()
        try proceed()
    }

    func get(_ kind: ClipboardContent.Kind, stop: Event) throws(ClipboardFailure) -> ClipboardContent {
        // After it, what other programs have set before this call is known.
        try roundTrip()
        try proceed()
        if let own {
            guard own.content.kind == kind else { throw .empty(kind) }
            return own.content
        }
        guard let current, let type = kind.types.first(where: current.types.contains) else { throw .empty(kind) }
        var ends: [Int32] = [-1, -1]
        guard clinux_pipe(&ends) == 0 else {
            throw .refused(.failed, ResourceShortage.descriptors(String(cString: strerror(errno))).description)
        }
        cwayland_data_offer_receive(current.proxy, type, ends[1])
        // The request has its own copy of the descriptor.
        Glibc.close(ends[1])
        return try content(kind, from: ends[0], stop: stop)
    }

    // MARK: - ClipboardLoop

    var interests: [Poll.Interest] { [Poll.Interest(connection.descriptor)] + writes.interests }

    var deadline: UInt64? { writes.deadline }

    func proceed() throws(ClipboardFailure) {
        try ClipboardFailure.explaining { () throws(SourceError) in try connection.processEvents() }
        _ = writes.proceed()
        if isSeatGone { throw .lost("The Wayland compositor's seat is gone.") }
    }

    private func roundTrip() throws(ClipboardFailure) {
        try ClipboardFailure.explaining { () throws(SourceError) in try connection.roundTrip() }
    }

    // MARK: - Events

    fileprivate func offerAnnounced(_ offer: OpaquePointer) {
        if let announced { cwayland_data_offer_destroy(announced.proxy) }
        announced = Offer(proxy: offer)
        cwayland_data_offer_add_listener(offer, offerEvents, Unmanaged.passUnretained(self).toOpaque())
    }

    fileprivate func offered(_ type: String, by offer: OpaquePointer) {
        guard announced?.proxy == offer, announced?.types.count ?? 0 < Self.largestOffer else { return }
        announced?.types.append(type)
    }

    fileprivate func selected(_ offer: OpaquePointer?) {
        if let current { cwayland_data_offer_destroy(current.proxy) }
        current = announced?.proxy == offer ? announced : nil
        if current != nil { announced = nil }
    }

    fileprivate func seatGone() { isSeatGone = true }

    fileprivate func send(_ type: String, of source: OpaquePointer, to descriptor: Int32) {
        guard let own, own.source == source, own.content.kind.types.contains(type) else {
            Glibc.close(descriptor)
            return
        }
        writes.add(own.content.bytes, to: descriptor)
    }

    fileprivate func cancelled(_ source: OpaquePointer) {
        guard own?.source == source else { return }
        own = nil
        cwayland_data_source_destroy(source)
    }
}

// `nonisolated(unsafe)` because these tables are never written.

nonisolated(unsafe) private let deviceEvents = permanent(
    cwayland_data_device_listener(
        data_offer: { data, _, offer in
            guard let data, let offer else { return }
            owner(data).offerAnnounced(offer)
        },
        selection: { data, _, offer in data.map(owner)?.selected(offer) },
        finished: { data, _ in data.map(owner)?.seatGone() }
    )
)

nonisolated(unsafe) private let sourceEvents = permanent(
    cwayland_data_source_listener(
        send: { data, source, type, descriptor in
            guard let data, let source, let type else { return }
            owner(data).send(String(cString: type), of: source, to: descriptor)
        },
        cancelled: { data, source in
            guard let data, let source else { return }
            owner(data).cancelled(source)
        }
    )
)

nonisolated(unsafe) private let offerEvents = permanent(
    cwayland_data_offer_listener(
        offer: { data, offer, type in
            guard let data, let offer, let type else { return }
            owner(data).offered(String(cString: type), by: offer)
        }
    )
)

/// Returns the clipboard from a listener's data pointer. It outlives its listeners, because only it dispatches them.
private func owner(_ data: UnsafeMutableRawPointer) -> WlrootsClipboard {
    Unmanaged<WlrootsClipboard>.fromOpaque(data).takeUnretainedValue()
}
