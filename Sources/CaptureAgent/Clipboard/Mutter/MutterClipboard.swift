import Glibc
import Wire

/// The clipboard of GNOME's compositor, by a remote desktop session of its own, org.gnome.Mutter.RemoteDesktop. The
/// session is never started, so it has no devices, and the desktop shows no sign of it.
///
/// Mutter keeps a text or an image when the session ends.
final class MutterClipboard: ClipboardBackend, ClipboardLoop {
    /// The time limit of every call, and of one that only cleans up, in ns.
    private static let callTimeout: UInt64 = .milliseconds(2_000)
    private static let closeTimeout: UInt64 = .milliseconds(500)

    private static let service = "org.gnome.Mutter.RemoteDesktop"

    private let bus: Bus
    private let session: BusTarget
    private var subscriptions: [BusSubscription] = []
    private var isClosed = false
    /// The MIME types of what the clipboard has; empty if it is empty.
    private var types: [String] = []
    /// What was set here last, and whether the clipboard has it: Mutter's signals may be about what was set before.
    private var lastSet: ClipboardContent?
    private var isOwner = false
    /// The transfers to other programs that Mutter asks for.
    private var transfers: [(type: String, serial: UInt32)] = []
    private var writes = PipeWrites()

    init() throws(ClipboardFailure) {
        (bus, session) = try Self.explaining { () throws(BusError) in
            let bus = try Bus()
            let manager = BusTarget(
                service: Self.service,
                path: "/org/gnome/Mutter/RemoteDesktop",
                interface: Self.service
            )
            let reply = try bus.call(manager, "CreateSession", timeout: Self.callTimeout)
            let session = BusTarget(
                service: Self.service,
                path: try reply.readObjectPath(),
                interface: "\(Self.service).Session"
            )
            return (bus, session)
        }
        do throws(ClipboardFailure) {
            try Self.explaining(enable)
        } catch {
            close()
            throw error
        }
    }

    private func enable() throws(BusError) {
        // Before the clipboard is enabled, because Mutter then says what it has.
        subscriptions = [
            try bus.subscribe(session, "Closed") { [weak self] _ in self?.isClosed = true },
            try bus.subscribe(session, "SelectionOwnerChanged") { [weak self] message in
                _ = try? self?.ownerChanged(message)
            },
            try bus.subscribe(session, "SelectionTransfer") { [weak self] message in
                guard let type = try? message.readString(), let serial = try? message.readUnsigned() else { return }
                self?.transfers.append((type, serial))
            },
        ]
        try call("EnableClipboard") { message throws(BusError) in try message.append([]) }
    }

    func close() {
        writes.close()
        _ = try? bus.call(session, "Stop", timeout: Self.closeTimeout)
    }

    // MARK: - ClipboardBackend

    func set(_ content: ClipboardContent, stop: Event) throws(ClipboardFailure) {
        try Self.explaining { () throws(BusError) in
            _ = try call("SetSelection") { message throws(BusError) in
                try message.append([("mime-types", .strings(content.kind.types))])
            }
        }
        lastSet = content
        isOwner = true
    }

    func get(_ kind: ClipboardContent.Kind, stop: Event) throws(ClipboardFailure) -> ClipboardContent {
        // After it, what other programs have set before this call is known.
        _ = try Self.explaining { () throws(BusError) in
            try bus.stringProperty(session, "SessionId", timeout: Self.callTimeout)
        }
        try proceed()
        if let own {
            guard own.kind == kind else { throw .empty(kind) }
            return own
        }
        guard let type = kind.types.first(where: types.contains) else { throw .empty(kind) }
        let descriptor = try Self.explaining { () throws(BusError) in
            try call("SelectionRead") { message throws(BusError) in try message.append(type) }.readDescriptor()
        }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL, 0) | O_NONBLOCK)
        return try content(kind, from: descriptor, stop: stop)
    }

    // MARK: - ClipboardLoop

    var interests: [Poll.Interest] { [bus.interest] + writes.interests }

    var deadline: UInt64? { writes.deadline }

    func proceed() throws(ClipboardFailure) {
        // Signals that come during a call wait in the bus, where the descriptor does not show them.
        var isBehind = true
        while isBehind {
            guard !bus.waitUntil(orAny: [], until: MonotonicClock.now, { isClosed }) else {
                throw .lost("Mutter has ended the session of the clipboard.")
            }
            let begun = transfers
            transfers = []
            for (type, serial) in begun {
                try Self.explaining { () throws(BusError) in try begin(type, serial) }
            }
            let ended = writes.proceed()
            for write in ended {
                try Self.explaining { () throws(BusError) in try end(write.id, isWhole: write.isWhole) }
            }
            isBehind = !begun.isEmpty || !ended.isEmpty
        }
    }

    /// Begins a transfer to another program.
    private func begin(_ type: String, _ serial: UInt32) throws(BusError) {
        let descriptor: Int32
        do throws(BusError) {
            descriptor = try call("SelectionWrite") { message throws(BusError) in try message.append(serial) }
                .readDescriptor()
        } catch .refused {
            // Another program has set something meanwhile.
            return
        }
        if let own, own.kind.types.contains(type) {
            writes.add(own.bytes, to: descriptor, id: serial)
        } else {
            // Without it, the program would wait until Mutter gives up.
            Glibc.close(descriptor)
            try end(serial, isWhole: false)
        }
    }

    private func end(_ serial: UInt32, isWhole: Bool) throws(BusError) {
        do throws(BusError) {
            try call("SelectionWriteDone") { message throws(BusError) in
                try message.append(serial)
                try message.append(isWhole)
            }
        } catch .refused {
            // Mutter has given the transfer up.
        }
    }

    // MARK: - Private

    /// What was set here, while the clipboard has it.
    private var own: ClipboardContent? { isOwner ? lastSet : nil }

    private func ownerChanged(_ message: BusMessage) throws(BusError) {
        var (types, isOwn): ([String], Bool) = ([], false)
        try message.readOptions { key throws(BusError) in
            switch key {
            case "mime-types":
                try message.readVariant("(as)") { message throws(BusError) in
                    try message.readStruct("as") { () throws(BusError) in
                        try message.readArray("s") { () throws(BusError) in types.append(try message.readString()) }
                    }
                }
            case "session-is-owner":
                isOwn = try message.readVariant("b") { message throws(BusError) in try message.readBoolean() }
            default: break
            }
        }
        self.types = types
        isOwner = isOwn
    }

    @discardableResult
    private func call(
        _ method: String,
        _ arguments: (BusMessage) throws(BusError) -> Void
    ) throws(BusError) -> BusMessage {
        try bus.call(session, method, timeout: Self.callTimeout, arguments: arguments)
    }

    private static func explaining<Value>(_ body: () throws(BusError) -> Value) throws(ClipboardFailure) -> Value {
        do throws(BusError) {
            return try body()
        } catch {
            throw .lost(SourceError(bus: error).detail)
        }
    }
}
