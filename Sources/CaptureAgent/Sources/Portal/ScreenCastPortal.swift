import Glibc
import Wire

/// The desktop's consent to a screencast, through org.freedesktop.portal.ScreenCast.
///
/// Every call has a time limit, because a portal whose backend has lost its compositor can hang forever.
final class ScreenCastPortal {
    /// What the portal has granted.
    struct Grant {
        /// The PipeWire node that shows the screen.
        var node: UInt32
        /// A token that lets the next session skip the dialog, once.
        var restoreToken: String?
    }

    /// What to ask the portal for.
    struct Request {
        var content: ScreenContent
        /// The requested pointer. It is visible only if the portal can draw it or report its position.
        var cursor: CursorDrawing
        /// The token of an earlier grant.
        var restoreToken: String?
        /// How long a person may take to answer, in ns.
        var consentTimeout: UInt64
    }

    /// The time after which a request that has no answer must be showing a dialog, in ns.
    private static let promptness: UInt64 = .milliseconds(1_000)

    /// The time limit of calls that show no dialog, in ns.
    private static let callTimeout: UInt64 = .milliseconds(5_000)

    /// The time limit of calls that only clean up, in ns. It is short because the agent may be ending because its peer
    /// hangs.
    private static let closeTimeout: UInt64 = .milliseconds(500)

    private static let service = "org.freedesktop.portal.Desktop"
    private static let portal = BusTarget(
        service: service,
        path: "/org/freedesktop/portal/desktop",
        interface: "org.freedesktop.portal.ScreenCast"
    )
    /// The values of SourceType in the ScreenCast interface.
    private static let sourceTypes: [ScreenContent: UInt32] = [.monitor: 1, .window: 2]
    /// Cursor modes of the ScreenCast interface, best first.
    ///
    /// With metadata (4), a pointer that moves over a static screen costs the compositor no picture.
    private static let visibleCursor: [UInt32] = [4, 2]
    /// PersistMode: until explicitly revoked.
    private static let persistent: UInt32 = 2

    private let bus: Bus
    private let stop: Event
    private var session: BusTarget?
    private var closedSubscription: BusSubscription?
    private var isClosed = false
    private var ownerSubscription: BusSubscription?
    /// Whether the portal's process has exited since the bus was opened. All its requests and sessions then end without
    /// notice.
    private var isGone = false
    private var requests = 0

    init(stop: Event) throws(SourceError) {
        self.stop = stop
        bus = try SourceError.explainingBus { () throws(BusError) in try Bus() }
        ownerSubscription = try SourceError.explainingBus { () throws(BusError) in
            try bus.subscribeToLoss(of: Self.service) { [weak self] in self?.isGone = true }
        }
    }

    /// Returns what the desktop's portal can share. Shows no dialog.
    static func sharedContents() throws(SourceError) -> [ScreenContent] {
        do {
            let types = try Bus().unsignedProperty(portal, "AvailableSourceTypes", timeout: callTimeout)
            return ScreenContent.allCases.filter { types & (sourceTypes[$0] ?? 0) != 0 }
        } catch {
            throw explain(error)
        }
    }

    /// Asks for one monitor or window.
    ///
    /// - Parameter personIsAsked: Called if the answer takes so long that a dialog must be open.
    func open(_ wanted: Request, personIsAsked: () -> Void) throws(SourceError) -> Grant {
        do {
            let handle = try createSession()
            let session = BusTarget(
                service: Self.service,
                path: handle,
                interface: "org.freedesktop.portal.Session"
            )
            self.session = session
            closedSubscription = try bus.subscribe(session, "Closed") { [weak self] _ in self?.isClosed = true }
            // Some backends show the dialog when the sources are selected, most when the session starts.
            try selectSources(session: handle, wanted, personIsAsked: personIsAsked)
            return try start(session: handle, timeout: wanted.consentTimeout, personIsAsked: personIsAsked)
        } catch {
            throw Self.explain(error)
        }
    }

    /// Opens a connection to PipeWire that sees only the granted node.
    func openPipeWireRemote() throws(SourceError) -> Int32 {
        guard let session else { throw .lost(cause: "portal_closed", detail: "The portal session is not open.") }
        do {
            let reply = try bus.call(Self.portal, "OpenPipeWireRemote", timeout: Self.callTimeout) {
                message throws(BusError) in
                try message.append(objectPath: session.path)
                try message.append([])
            }
            return try reply.readDescriptor()
        } catch {
            throw Self.explain(error)
        }
    }

    /// Waits until the desktop closes the session, one of `events` is set, or the deadline has passed.
    ///
    /// - Parameter deadline: Monotonic ns; `nil` for none.
    /// - Returns: Whether the session was closed.
    func waitUntilClosed(or events: [Event], until deadline: UInt64? = nil) -> Bool {
        bus.waitUntil(orAny: events, until: deadline) { isClosed || isGone }
    }

    /// Ends the screencast.
    func close() {
        guard let session else { return }
        _ = try? bus.call(session, "Close", timeout: Self.closeTimeout)
        self.session = nil
    }

    // MARK: - The three requests

    private func createSession() throws(BusError) -> String {
        var handle = ""
        try request(
            "CreateSession",
            timeout: Self.callTimeout,
            options: [("session_handle_token", .string(newToken()))]
        ) {
            key,
            message throws(BusError) in
            // Version 1 of the interface types the handle as a string.
            if key == "session_handle" {
                handle = try message.readVariant("s") { (message) throws(BusError) in try message.readString() }
            }
        }
        return handle
    }

    private func selectSources(
        session: String,
        _ wanted: Request,
        personIsAsked: () -> Void
    ) throws(BusError) {
        let types = try bus.unsignedProperty(Self.portal, "AvailableSourceTypes", timeout: Self.callTimeout)
        let type = Self.sourceTypes[wanted.content] ?? 0
        guard types & type != 0 else { throw .refused(name: Self.withoutContent, message: wanted.content.rawValue) }
        let cursors = try bus.unsignedProperty(Self.portal, "AvailableCursorModes", timeout: Self.callTimeout)
        var options: [(String, BusValue)] = [
            ("types", .unsigned(type)), ("multiple", .boolean(false)),
            ("persist_mode", .unsigned(Self.persistent)),
        ]
        if wanted.cursor == .embedded, let mode = Self.visibleCursor.first(where: { cursors & $0 != 0 }) {
            options.append(("cursor_mode", .unsigned(mode)))
        }
        if let restoreToken = wanted.restoreToken { options.append(("restore_token", .string(restoreToken))) }
        try request(
            "SelectSources",
            session: session,
            timeout: wanted.consentTimeout,
            options: options,
            isSlow: personIsAsked
        )
    }

    private func start(
        session: String,
        timeout: UInt64,
        personIsAsked: () -> Void
    ) throws(BusError) -> Grant {
        var node: UInt32?
        var restoreToken: String?
        try request("Start", session: session, parentWindow: "", timeout: timeout) {
            key,
            message throws(BusError) in
            switch key {
            case "streams":
                try message.readVariant("a(ua{sv})") { message throws(BusError) in
                    try message.readArray("(ua{sv})") { () throws(BusError) in
                        try message.readStruct("ua{sv}") { () throws(BusError) in
                            let id = try message.readUnsigned()
                            node = node ?? id
                        }
                    }
                }
            case "restore_token":
                restoreToken = try message.readVariant("s") { (message) throws(BusError) in try message.readString() }
            default:
                break
            }
        } isSlow: {
            personIsAsked()
        }
        guard let node else { throw .malformed("the portal granted no stream") }
        return Grant(node: node, restoreToken: restoreToken)
    }

    // MARK: - Requests in general (org.freedesktop.portal.Request)

    /// Calls a method that answers through a Request object, and waits for its Response.
    ///
    /// - Parameter isSlow: Called once if the answer does not come promptly.
    private func request(
        _ method: String,
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
            path: "\(Self.portal.path)/request/\(sender)/\(token)",
            interface: "org.freedesktop.portal.Request"
        )
        var response: Result<UInt32, BusError>?
        // Subscribed before the call, because a quick signal could otherwise be missed.
        let subscription = try bus.subscribe(request, "Response") { message in
            response = Self.parse(message, result)
        }
        defer { withExtendedLifetime(subscription) {} }
        let deadline = MonotonicClock.now + timeout
        _ = try bus.call(Self.portal, method, timeout: min(timeout, Self.callTimeout)) { message throws(BusError) in
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

    private func newToken() -> String {
        requests += 1
        return "heliograph_\(getpid())_\(requests)"
    }

    // MARK: - Errors

    private static let cancelled = "cancelled"
    private static let failed = "failed"
    private static let withoutContent = "without-content"
    private static let gone = "org.freedesktop.DBus.Error.NoReply"

    private static func explain(_ error: BusError) -> SourceError {
        switch error {
        case .refused(cancelled, _):
            return .declined(
                cause: "consent_cancelled",
                detail: "The screencast dialog was cancelled. Start again and choose a screen."
            )
        case .refused(withoutContent, let content):
            return .unavailable(
                cause: "content_unavailable",
                detail: "The desktop's portal shares no \(content)s; capture something else."
            )
        case .refused(gone, _):
            return .lost(
                cause: "portal_gone",
                detail: "xdg-desktop-portal ended while it was asked. It is asked again."
            )
        case .refused(failed, let method):
            return .refused(
                cause: "portal_failed",
                detail:
                    "The portal's \(method) failed. Its backend's log says why. Often the backend has lost the compositor: restart it."
            )
        case .refused(let name, let message) where name.hasSuffix("ServiceUnknown") || name.contains("Spawn"):
            return .unavailable(
                cause: "portal_unavailable",
                detail: "xdg-desktop-portal is not there (\(message)). Install it with a backend for the desktop."
            )
        case .refused(let name, let message)
        where name.hasSuffix("UnknownMethod") || name.hasSuffix("UnknownInterface")
            || name.hasSuffix("InvalidArgs"):
            return .unavailable(
                cause: "portal_without_screencast",
                detail: "The portal has no ScreenCast (\(message)). Install a backend such as xdg-desktop-portal-wlr."
            )
        case .refused(let name, let message):
            return .refused(cause: "portal_refused", detail: "The portal refused: \(message) (\(name)).")
        case .timeout:
            return .timeout(
                cause: "portal_timeout",
                detail: "The portal did not answer in time: its dialog needs an answer, or its backend hangs."
            )
        case .stopped, .noBus, .malformed:
            return SourceError(bus: error)
        }
    }
}
