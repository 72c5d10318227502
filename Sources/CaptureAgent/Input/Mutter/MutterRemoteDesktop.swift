/// A remote desktop session of GNOME's compositor, org.gnome.Mutter.RemoteDesktop, which shows no dialog. It is coupled
/// with a screencast that nobody watches, because places on the screen are places in a stream. Used in one thread.
final class MutterRemoteDesktop {
    /// The time limit of every call, in ns.
    static let callTimeout: UInt64 = .milliseconds(5_000)
    /// The time limit of calls that only clean up, in ns.
    static let closeTimeout: UInt64 = .milliseconds(500)

    private static let service = "org.gnome.Mutter.RemoteDesktop"
    private static let remoteDesktop = BusTarget(
        service: service,
        path: "/org/gnome/Mutter/RemoteDesktop",
        interface: service
    )

    /// What the property SupportedDeviceTypes says.
    enum Device {
        static let keyboard: UInt32 = 1
        static let pointer: UInt32 = 2
        static let touch: UInt32 = 4
        static let all = keyboard | pointer | touch
    }

    /// The devices that the compositor can make, of ``Device``.
    let devices: UInt32
    private let bus: Bus
    private let session: BusTarget
    private let stream: String
    private var closedSubscription: BusSubscription?
    private var isClosed = false

    init(_ screen: MutterSource.Screen) throws(BusError) {
        bus = try Bus()
        devices = try bus.unsignedProperty(
            Self.remoteDesktop,
            "SupportedDeviceTypes",
            timeout: Self.callTimeout
        )
        let reply = try bus.call(Self.remoteDesktop, "CreateSession", timeout: Self.callTimeout)
        let session = BusTarget(
            service: Self.service,
            path: try reply.readObjectPath(),
            interface: "\(Self.service).Session"
        )
        let id = try bus.stringProperty(session, "SessionId", timeout: Self.callTimeout)
        stream = try MutterScreenCast.stream(of: screen, drivenBy: id, bus)
        self.session = session
        // Starts the screencast, too.
        _ = try bus.call(session, "Start", timeout: Self.callTimeout)
        closedSubscription = try bus.subscribe(session, "Closed") { [weak self] _ in self?.isClosed = true }
    }

    /// The session, for the guard of this process. Valid as long as this object lives.
    var shared: MutterSession { MutterSession(connection: bus.descriptor, path: session.path) }

    /// Returns whether the desktop's compositor is Mutter and takes input.
    static func isAvailable() -> Bool {
        guard let bus = try? Bus() else { return false }
        return (try? bus.hasOwner(service, timeout: callTimeout)) ?? false
    }

    /// Calls a method of the session, such as NotifyPointerButton.
    ///
    /// - Parameters:
    ///   - onStream: Whether the stream is the first argument.
    ///   - timeout: In ns.
    func notify(
        _ method: String,
        onStream: Bool = false,
        timeout: UInt64 = MutterRemoteDesktop.callTimeout,
        _ arguments: (BusMessage) throws(BusError) -> Void
    ) throws(BusError) {
        _ = try bus.call(session, method, timeout: timeout) { message throws(BusError) in
            if onStream { try message.append(stream) }
            try arguments(message)
        }
    }

    /// Waits until the compositor has handled what came before, and throws if it has closed the session.
    func finish(timeout: UInt64 = MutterRemoteDesktop.callTimeout) throws(BusError) {
        _ = try bus.stringProperty(session, "SessionId", timeout: timeout)
        _ = bus.waitUntil(orAny: [], until: MonotonicClock.now) { isClosed }
        if isClosed { throw .refused(name: "", message: "the desktop has ended the session") }
    }

    /// Ends the session. Mutter releases what it holds.
    func close() {
        _ = try? bus.call(session, "Stop", timeout: Self.closeTimeout)
    }
}
