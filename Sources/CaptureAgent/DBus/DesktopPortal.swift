import Glibc

/// A session with xdg-desktop-portal, org.freedesktop.portal.Desktop. Used in one thread at a time.
///
/// Every call has a time limit, because a portal whose backend has lost its compositor can hang forever.
final class DesktopPortal {
    /// A stream of a screencast that the portal has granted.
    struct Stream: Sendable {
        /// Its PipeWire node.
        var node: UInt32
        /// The size of what it shows, in the desktop's own pixels; `nil` if the portal does not tell.
        var size: (width: Int, height: Int)?
    }

    /// What the portal has granted.
    struct Grant {
        var streams: [Stream] = []
        /// The devices that a person has allowed, of RemoteDesktop's AvailableDeviceTypes.
        var devices: UInt32 = 0
        /// A token that lets the next session skip the dialog, once.
        var restoreToken: String?
    }

    /// Why a session has ended.
    enum Ending: Sendable {
        /// The desktop has closed the session.
        case closed
        /// The portal or the bus is gone.
        case gone
    }

    /// The time limit of calls that show no dialog, in ns.
    static let callTimeout: UInt64 = .milliseconds(5_000)
    /// The time limit of calls that only clean up, in ns. It is short because the agent may be ending because its peer
    /// hangs.
    private static let closeTimeout: UInt64 = .milliseconds(500)
    /// The time after which a request that has no answer must be showing a dialog, in ns.
    private static let promptness: UInt64 = .milliseconds(1_000)

    private static let service = "org.freedesktop.portal.Desktop"
    private static let path = "/org/freedesktop/portal/desktop"

    // Names of errors that the portal's answers stand for.
    static let cancelled = "cancelled"
    static let failed = "failed"
    static let gone = "org.freedesktop.DBus.Error.NoReply"

    let bus: Bus
    private let interface: BusTarget
    private let stop: Event
    private(set) var session: BusTarget?
    private var closedSubscription: BusSubscription?
    private var isClosed = false
    private var ownerSubscription: BusSubscription?
    /// Whether the portal's process has exited since the bus was opened. All its requests and sessions then end without
    /// notice.
    private var isGone = false
    private var requests = 0

    /// - Parameters:
    ///   - interface: The interface that makes and starts the session.
    ///   - stop: Ends requests.
    init(_ interface: BusTarget, stop: Event) throws(BusError) {
        (self.interface, self.stop) = (interface, stop)
        bus = try Bus()
        ownerSubscription = try bus.subscribeToLoss(of: Self.service) { [weak self] in self?.isGone = true }
    }

    /// Returns an interface of the portal, by the last part of its name.
    static func interface(_ name: String) -> BusTarget {
        BusTarget(service: service, path: path, interface: "org.freedesktop.portal.\(name)")
    }

    /// Why the session has ended, by the messages that were handled; `nil` if it has not.
    private var ending: Ending? { isGone ? .gone : isClosed ? .closed : nil }

    /// Makes the session. Shows no dialog.
    func createSession() throws(BusError) {
        var handle = ""
        let token = newToken()
        try request("CreateSession", timeout: Self.callTimeout, options: [("session_handle_token", .string(token))]) {
            key,
            message throws(BusError) in
            // Version 1 of the interfaces types the handle as a string.
            guard key == "session_handle" else { return }
            handle = try message.readVariant("s") { (message) throws(BusError) in try message.readString() }
        }
        let session = BusTarget(service: Self.service, path: handle, interface: "org.freedesktop.portal.Session")
        self.session = session
        closedSubscription = try bus.subscribe(session, "Closed") { [weak self] _ in self?.isClosed = true }
    }

    /// Says what the session is for, by a request of an interface.
    ///
    /// - Parameter isSlow: Called if the answer takes so long that a dialog must be open.
    func select(
        _ method: String,
        of interface: BusTarget? = nil,
        timeout: UInt64,
        options: [(String, BusValue)],
        isSlow: () -> Void = {}
    ) throws(BusError) {
        try request(method, of: interface, session: session?.path, timeout: timeout, options: options, isSlow: isSlow)
    }

    /// Starts the session. Most desktops ask a person.
    func start(timeout: UInt64, isSlow: () -> Void) throws(BusError) -> Grant {
        var grant = Grant()
        try request("Start", session: session?.path, parentWindow: "", timeout: timeout) {
            key,
            message throws(BusError) in
            switch key {
            case "streams": grant.streams = try Self.readStreams(message)
            case "devices":
                grant.devices = try message.readVariant("u") { message throws(BusError) in try message.readUnsigned() }
            case "restore_token":
                grant.restoreToken = try message.readVariant("s") { message throws(BusError) in
                    try message.readString()
                }
            default: break
            }
        } isSlow: {
            isSlow()
        }
        return grant
    }

    /// Waits until the session ends, one of `events` is set, or the deadline has passed.
    ///
    /// - Parameter deadline: Monotonic ns; `nil` for none.
    /// - Returns: Whether the session has ended.
    func waitForEnd(or events: [Event], until deadline: UInt64? = nil) -> Bool {
        bus.waitUntil(orAny: events, until: deadline) { ending != nil }
    }

    /// Handles the messages that have come, and returns why the session has ended; `nil` if it has not.
    func look() -> Ending? {
        bus.waitUntil(orAny: [], until: MonotonicClock.now) { ending != nil } ? ending ?? .gone : nil
    }

    /// Ends the session.
    func close() {
        guard let session else { return }
        _ = try? bus.call(session, "Close", timeout: Self.closeTimeout)
        self.session = nil
    }

    // MARK: - Requests (org.freedesktop.portal.Request)

    /// Calls a method that answers through a Request object, and waits for its Response.
    ///
    /// - Parameter isSlow: Called once if the answer does not come promptly.
    private func request(
        _ method: String,
        of interface: BusTarget? = nil,
        session: String? = nil,
        parentWindow: String? = nil,
        timeout: UInt64,
        options: [(String, BusValue)] = [],
        result: @escaping (String, BusMessage) throws(BusError) -> Void = { (_, _) throws(BusError) in },
        isSlow: () -> Void = {}
    ) throws(BusError) {
        let token = newToken()
        let sender = bus.uniqueName.dropFirst().map { $0 == "." ? "_" : String($0) }.joined()
        let request = BusTarget(
            service: Self.service,
            path: "\(Self.path)/request/\(sender)/\(token)",
            interface: "org.freedesktop.portal.Request"
        )
        var response: Result<UInt32, BusError>?
        // Subscribed before the call, because a quick signal could otherwise be missed.
        let subscription = try bus.subscribe(request, "Response") { message in
            response = Self.parse(message, result)
        }
        defer { withExtendedLifetime(subscription) {} }
        let deadline = MonotonicClock.now + timeout
        _ = try bus.call(interface ?? self.interface, method, timeout: min(timeout, Self.callTimeout)) {
            message throws(BusError) in
            if let session { try message.append(objectPath: session) }
            if let parentWindow { try message.append(parentWindow) }
            try message.append(options + [("handle_token", .string(token))])
        }
        do {
            let prompt = min(deadline, MonotonicClock.now + Self.promptness)
            if try !bus.waits(until: prompt, stop: [stop], { response != nil || isGone }) {
                isSlow()
                try bus.wait(until: deadline, stop: [stop]) { response != nil || isGone }
            }
        } catch {
            _ = try? bus.call(request, "Close", timeout: Self.closeTimeout)
            throw error
        }
        guard let response else { throw .refused(name: Self.gone, message: method) }
        switch try response.get() {
        case 0: return
        case 1: throw .refused(name: Self.cancelled, message: method)
        default: throw .refused(name: Self.failed, message: method)
        }
    }

    private static func parse(
        _ message: BusMessage,
        _ result: (String, BusMessage) throws(BusError) -> Void
    ) -> Result<UInt32, BusError> {
        do throws(BusError) {
            let code = try message.readUnsigned()
            if code == 0 { try message.readOptions { key throws(BusError) in try result(key, message) } }
            return .success(code)
        } catch {
            return .failure(error)
        }
    }

    private static func readStreams(_ message: BusMessage) throws(BusError) -> [Stream] {
        var streams: [Stream] = []
        try message.readVariant("a(ua{sv})") { message throws(BusError) in
            try message.readArray("(ua{sv})") { () throws(BusError) in
                try message.readStruct("ua{sv}") { () throws(BusError) in
                    var stream = Stream(node: try message.readUnsigned())
                    try message.readOptions { key throws(BusError) in
                        if key == "size" { stream.size = try readSize(message) }
                    }
                    streams.append(stream)
                }
            }
        }
        return streams
    }

    private static func readSize(_ message: BusMessage) throws(BusError) -> (width: Int, height: Int) {
        var size = (width: 0, height: 0)
        try message.readVariant("(ii)") { message throws(BusError) in
            try message.readStruct("ii") { () throws(BusError) in
                size = (Int(try message.readSigned()), Int(try message.readSigned()))
            }
        }
        return size
    }

    private func newToken() -> String {
        requests += 1
        return "heliograph_\(getpid())_\(requests)"
    }
}
