import Synchronization

/// A session of org.freedesktop.portal.RemoteDesktop that a person has agreed to. Nobody watches its screencast: it is
/// there because places on the screen are places in a stream.
final class RemoteDesktopPortal: @unchecked Sendable {
    // Unchecked because the portal, which two threads must not use at the same time, is used only under `lock`.

    /// The values of the property AvailableDeviceTypes.
    enum Device {
        static let keyboard: UInt32 = 1
        static let pointer: UInt32 = 2
        static let touch: UInt32 = 4
        static let all = keyboard | pointer | touch
    }

    private static let interface = DesktopPortal.interface("RemoteDesktop")
    /// SourceType of ScreenCast: a monitor.
    private static let monitor: UInt32 = 1

    /// The devices that the person has allowed, of ``Device``.
    let devices: UInt32
    /// The screen that the person has shared; `nil` without one.
    let stream: DesktopPortal.Stream?

    private let portal: DesktopPortal
    private let path: String
    private let descriptor: Int32
    /// Whether the session is given up.
    private let lock = Mutex(false)

    /// Asks a person, and waits for the answer.
    ///
    /// - Parameters:
    ///   - timeout: How long the person may take, in ns.
    ///   - stop: Ends the wait.
    ///   - personIsAsked: Called if the answer takes so long that a dialog must be open.
    init(timeout: UInt64, stop: Event, personIsAsked: () -> Void) throws(BusError) {
        let portal = try DesktopPortal(Self.interface, stop: stop)
        do throws(BusError) {
            let available = try Self.availableDevices(portal.bus)
            try portal.createSession()
            let types = available & Device.all
            try portal.select(
                "SelectDevices",
                timeout: timeout,
                options: [("types", .unsigned(types))],
                isSlow: personIsAsked
            )
            try portal.select(
                "SelectSources",
                of: DesktopPortal.interface("ScreenCast"),
                timeout: timeout,
                options: [("types", .unsigned(Self.monitor)), ("multiple", .boolean(false))],
                isSlow: personIsAsked
            )
            let grant = try portal.start(timeout: timeout, isSlow: personIsAsked)
            devices = grant.devices & types
            stream = grant.streams.first
        } catch {
            portal.close()
            throw error
        }
        self.portal = portal
        path = portal.session?.path ?? ""
        descriptor = portal.bus.descriptor
    }

    /// Returns the devices that the desktop's portal can offer, of ``Device``. Asks nobody.
    static func availableDevices() throws(BusError) -> UInt32 { try availableDevices(try Bus()) }

    private static func availableDevices(_ bus: Bus) throws(BusError) -> UInt32 {
        try bus.unsignedProperty(interface, "AvailableDeviceTypes", timeout: DesktopPortal.callTimeout)
    }

    /// Calls a method of the session, such as NotifyPointerButton.
    ///
    /// - Parameter arguments: Appends what comes after the options.
    func notify(_ method: String, _ arguments: (BusMessage) throws(BusError) -> Void) throws(BusError) {
        try lock.withLock { (_) throws(BusError) in
            _ = try portal.bus.call(Self.interface, method, timeout: DesktopPortal.callTimeout) {
                message throws(BusError) in
                try message.append(objectPath: path)
                try message.append([])
                try arguments(message)
            }
        }
    }

    /// Returns why the session has ended; `nil` if it has not.
    func look() -> DesktopPortal.Ending? {
        lock.withLock { isGivenUp in portal.look() ?? (isGivenUp ? .gone : nil) }
    }

    /// Waits until the session ends, or `stop` is set.
    ///
    /// - Parameter givenUp: Set after ``giveUp()``.
    /// - Returns: Why the session has ended; `nil` if it has not.
    func waitForEnd(orStop stop: Event, givenUp: Event) -> DesktopPortal.Ending? {
        while true {
            givenUp.clear()
            if let ending = look() { return ending }
            if stop.isSet { return nil }
            let descriptors = [descriptor, stop.descriptor, givenUp.descriptor]
            _ = Poll.wait(for: descriptors.map { Poll.Interest($0) }, timeout: nil)
        }
    }

    /// Has the session end, because it does not work.
    func giveUp() { lock.withLock { $0 = true } }

    /// Ends the session. The desktop releases what it holds.
    func close() { lock.withLock { _ in portal.close() } }
}
