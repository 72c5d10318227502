import Wire

/// The desktop's consent to a screencast, through org.freedesktop.portal.ScreenCast.
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

    private static let interface = DesktopPortal.interface("ScreenCast")
    /// The values of SourceType in the ScreenCast interface.
    private static let sourceTypes: [ScreenContent: UInt32] = [.monitor: 1, .window: 2]
    /// Cursor modes of the ScreenCast interface, best first.
    ///
    /// With metadata (4), a pointer that moves over a static screen costs the compositor no picture.
    private static let visibleCursor: [UInt32] = [4, 2]
    /// PersistMode: until explicitly revoked.
    private static let persistent: UInt32 = 2

    private let portal: DesktopPortal

    init(stop: Event) throws(SourceError) {
        portal = try SourceError.explainingBus { () throws(BusError) in try DesktopPortal(Self.interface, stop: stop) }
    }

    /// Returns what the desktop's portal can share. Shows no dialog.
    static func sharedContents() throws(SourceError) -> [ScreenContent] {
        do {
            let timeout = DesktopPortal.callTimeout
            let types = try Bus().unsignedProperty(interface, "AvailableSourceTypes", timeout: timeout)
            return ScreenContent.allCases.filter { types & (sourceTypes[$0] ?? 0) != 0 }
        } catch {
            throw explain(error)
        }
    }

    /// Asks for one monitor or window.
    ///
    /// - Parameter personIsAsked: Called if the answer takes so long that a dialog must be open.
    func open(_ wanted: Request, personIsAsked: () -> Void) throws(SourceError) -> Grant {
        do throws(BusError) {
            try portal.createSession()
            // Some backends show the dialog when the sources are selected, most when the session starts.
            try selectSources(wanted, personIsAsked: personIsAsked)
            let grant = try portal.start(timeout: wanted.consentTimeout, isSlow: personIsAsked)
            guard let stream = grant.streams.first else { throw .malformed("the portal granted no stream") }
            return Grant(node: stream.node, restoreToken: grant.restoreToken)
        } catch {
            throw Self.explain(error)
        }
    }

    /// Opens a connection to PipeWire that sees only the granted node.
    func openPipeWireRemote() throws(SourceError) -> Int32 {
        guard let session = portal.session else {
            throw .lost(cause: "portal_closed", detail: "The portal session is not open.")
        }
        do {
            let reply = try portal.bus.call(Self.interface, "OpenPipeWireRemote", timeout: DesktopPortal.callTimeout) {
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
        portal.waitForEnd(or: events, until: deadline)
    }

    /// Ends the screencast.
    func close() { portal.close() }

    private func selectSources(_ wanted: Request, personIsAsked: () -> Void) throws(BusError) {
        let timeout = DesktopPortal.callTimeout
        let types = try portal.bus.unsignedProperty(Self.interface, "AvailableSourceTypes", timeout: timeout)
        let type = Self.sourceTypes[wanted.content] ?? 0
        guard types & type != 0 else { throw .refused(name: Self.withoutContent, message: wanted.content.rawValue) }
        let cursors = try portal.bus.unsignedProperty(Self.interface, "AvailableCursorModes", timeout: timeout)
        var options: [(String, BusValue)] = [
            ("types", .unsigned(type)), ("multiple", .boolean(false)),
            ("persist_mode", .unsigned(Self.persistent)),
        ]
        if wanted.cursor == .embedded, let mode = Self.visibleCursor.first(where: { cursors & $0 != 0 }) {
            options.append(("cursor_mode", .unsigned(mode)))
        }
        if let restoreToken = wanted.restoreToken { options.append(("restore_token", .string(restoreToken))) }
        try portal.select("SelectSources", timeout: wanted.consentTimeout, options: options, isSlow: personIsAsked)
    }

    // MARK: - Errors

    private static let withoutContent = "without-content"

    private static func explain(_ error: BusError) -> SourceError {
        switch error {
        case .refused(DesktopPortal.cancelled, _):
            return .declined(
                cause: "consent_cancelled",
                detail: "The screencast dialog was cancelled. Start again and choose a screen."
            )
        case .refused(withoutContent, let content):
            return .unavailable(
                cause: "content_unavailable",
                detail: "The desktop's portal shares no \(content)s; capture something else."
            )
        case .refused(DesktopPortal.gone, _):
            return .lost(
                cause: "portal_gone",
                detail: "xdg-desktop-portal ended while it was asked. It is asked again."
            )
        case .refused(DesktopPortal.failed, let method):
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
