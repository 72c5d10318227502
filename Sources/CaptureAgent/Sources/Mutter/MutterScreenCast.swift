import Wire

/// A screencast from GNOME's compositor through org.gnome.Mutter.ScreenCast, which shows no dialog.
final class MutterScreenCast {
    /// The time limit of every call, in ns.
    private static let callTimeout: UInt64 = .milliseconds(5_000)

    /// The time limit of calls that only clean up, in ns. It is short because the agent may be ending because its peer
    /// hangs.
    private static let closeTimeout: UInt64 = .milliseconds(500)

    private static let service = "org.gnome.Mutter.ScreenCast"
    private static let screenCast = BusTarget(
        service: service,
        path: "/org/gnome/Mutter/ScreenCast",
        interface: service
    )

    /// The values of the option `cursor-mode`.
    private enum CursorMode {
        static let hidden: UInt32 = 0
        /// The pointer as metadata beside the pictures. If Mutter draws the pointer, a static monitor sends no picture
        /// when it moves.
        static let metadata: UInt32 = 2
    }

    private let bus: Bus
    private let stop: Event
    private var session: BusTarget?
    private var closedSubscription: BusSubscription?
    private var isClosed = false

    init(stop: Event) throws(SourceError) {
        self.stop = stop
        bus = try SourceError.explainingBus { () throws(BusError) in try Bus() }
    }

    /// Returns whether the desktop's compositor is Mutter.
    static func isAvailable() -> Bool {
        guard let bus = try? Bus() else { return false }
        return (try? bus.hasOwner(service, timeout: callTimeout)) ?? false
    }

    /// Starts recording and returns the PipeWire node that shows the screen.
    func open(_ screen: MutterSource.Screen, cursor: CursorDrawing) throws(SourceError) -> UInt32 {
        do throws(BusError) {
            let session = try Self.createSession([], bus)
            self.session = session
            closedSubscription = try bus.subscribe(session, "Closed") { [weak self] _ in self?.isClosed = true }
            let stream = try Self.record(screen, cursor: cursor, session: session, bus)
            return try start(session, stream: stream)
        } catch {
            throw Self.explain(error)
        }
    }

    /// Waits until the desktop closes the session or one of `events` is set.
    ///
    /// - Returns: Whether the session was closed.
    func waitUntilClosed(or events: [Event]) -> Bool { bus.waitUntil(orAny: events) { isClosed } }

    /// Ends the recording.
    func close() {
        guard let session else { return }
        _ = try? bus.call(session, "Stop", timeout: Self.closeTimeout)
        self.session = nil
    }

    // MARK: - Calls

    /// Makes a stream that a remote desktop session starts and ends.
    ///
    /// - Parameter remoteDesktop: The session's id.
    /// - Returns: The stream's object path.
    static func stream(
        of screen: MutterSource.Screen,
        drivenBy remoteDesktop: String,
        _ bus: Bus
    ) throws(BusError) -> String {
        let session = try createSession([("remote-desktop-session-id", .string(remoteDesktop))], bus)
        var screen = screen
        // Its source has made the virtual monitor.
        if case .virtual(let size) = screen { screen = .monitor(try MutterMonitor.virtual(size, bus).connector) }
        return try record(screen, cursor: .hidden, session: session, bus).path
    }

    private static func createSession(
        _ options: [(key: String, value: BusValue)],
        _ bus: Bus
    ) throws(BusError) -> BusTarget {
        let reply = try bus.call(Self.screenCast, "CreateSession", timeout: Self.callTimeout) {
            message throws(BusError) in
            try message.append(options)
        }
        return BusTarget(service: Self.service, path: try reply.readObjectPath(), interface: "\(Self.service).Session")
    }

    private static func record(
        _ screen: MutterSource.Screen,
        cursor: CursorDrawing,
        session: BusTarget,
        _ bus: Bus
    ) throws(BusError) -> BusTarget {
        let mode = cursor == .embedded ? CursorMode.metadata : CursorMode.hidden
        let options: [(String, BusValue)] = [("cursor-mode", .unsigned(mode))]
        let reply: BusMessage
        switch screen {
        case .monitor(let wanted):
            let connector = try MutterMonitor.named(wanted, bus).connector
            reply = try bus.call(session, "RecordMonitor", timeout: Self.callTimeout) { message throws(BusError) in
                try message.append(connector)
                try message.append(options)
            }
        case .virtual:
            reply = try bus.call(session, "RecordVirtual", timeout: Self.callTimeout) { message throws(BusError) in
                try message.append(options)
            }
        case .focusedWindow:
            // Without the option `window-id`, Mutter records the window that has the focus.
            reply = try bus.call(session, "RecordWindow", timeout: Self.callTimeout) { message throws(BusError) in
                try message.append(options)
            }
        }
        return BusTarget(service: Self.service, path: try reply.readObjectPath(), interface: "\(Self.service).Stream")
    }

    private func start(_ session: BusTarget, stream: BusTarget) throws(BusError) -> UInt32 {
        var node: Result<UInt32, BusError>?
        // Subscribed before the call, because a quick signal could otherwise be missed.
        let subscription = try bus.subscribe(stream, "PipeWireStreamAdded") { message in
            node = Result { () throws(BusError) in try message.readUnsigned() }
        }
        defer { withExtendedLifetime(subscription) {} }
        _ = try bus.call(session, "Start", timeout: Self.callTimeout)
        try bus.wait(until: MonotonicClock.now + Self.callTimeout, stop: [stop]) { node != nil }
        guard let node else { throw .timeout }
        return try node.get()
    }

    // MARK: - Errors

    private static func explain(_ error: BusError) -> SourceError {
        switch error {
        case .refused(MutterMonitor.missing, let message):
            .unavailable(cause: "output_unknown", detail: "\(message).")
        case .refused(let name, let message) where name.hasSuffix("ServiceUnknown") || name.contains("Spawn"):
            .unavailable(
                cause: "mutter_unavailable",
                detail: "Mutter offers no screencast on this bus (\(message)). Use the portal on another desktop."
            )
        case .refused(let name, let message):
            .refused(cause: "mutter_refused", detail: "Mutter refused: \(message) (\(name)).")
        case .timeout:
            .timeout(cause: "mutter_timeout", detail: "Mutter did not answer in time.")
        case .stopped, .noBus, .malformed:
            SourceError(bus: error)
        }
    }
}
