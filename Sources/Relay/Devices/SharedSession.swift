import HeliographAPI
import NIOCore
import Wire

/// The session of a device's own addresses, such as /v1/devices/{device}/snapshot.png.
///
/// If the device's configuration says `onDemand`, the first viewer starts it, and the broadcast with it. Both end after
/// a while without use. Callers may start a session of this name beforehand, with other settings.
enum SharedSession {
    static let name = Route.sharedSession
    /// How long the session may be unused, and then the broadcast, in s.
    static let ttl = 60
    private static let startTimeout = 15.0

    /// Why the session cannot be started.
    enum Failure: Error {
        /// The source asks a person for permission, and a viewer's call must not.
        case asksPerson(SourceKind)
        case broadcast(BroadcastError)
        case session(SessionError)
    }

    /// Starts the session and the broadcast of a device that allows it, unless they already run.
    @MediaLoop
    static func start(on broadcast: Broadcast, of switchboard: Switchboard) async throws(Failure) {
        guard broadcast.device.isOnDemand else { return }
        switch broadcast.machine.state {
        case .live, .away: break
        case .idle, .starting, .stopping: try await startBroadcast(broadcast, of: switchboard)
        }
        guard switchboard.sessions.session(named: name, of: broadcast.device.name) == nil else { return }
        do throws(SessionError) {
            _ = try await switchboard.putSession(name, request(for: broadcast.device), on: broadcast, changes: false)
        } catch {
            throw .session(error)
        }
    }

    /// The settings with which the session is started.
    private static func request(for device: DeviceConfiguration) -> SessionRequest {
        var request = SessionRequest()
        (request.onDemand, request.ttl) = (true, device.isRecorded ? nil : ttl)
        (request.record, request.recordWhen) = (device.isRecorded, device.recordWhen)
        return request
    }

    /// Records the session, which is started if there is none, and no longer ends when it is unused.
    ///
    /// - Parameter caller: The name of the caller's key.
    @MediaLoop
    static func record(
        on broadcast: Broadcast,
        of switchboard: Switchboard,
        by caller: String? = nil
    ) async throws(SessionError) -> Session {
        let session = switchboard.sessions.session(named: name, of: broadcast.device.name)
        var request = session?.request ?? request(for: broadcast.device)
        (request.record, request.ttl) = (true, nil)
        return try await switchboard.putSession(name, request, on: broadcast, by: caller).session
    }

    @MediaLoop
    private static func startBroadcast(_ broadcast: Broadcast, of switchboard: Switchboard) async throws(Failure) {
        guard !broadcast.device.source.kind.asksPerson else { throw .asksPerson(broadcast.device.source.kind) }
        do throws(BroadcastError) {
            _ = try await broadcast.start(source: nil, timeout: TimeAmount(seconds: startTimeout), ttl: ttl)
            await switchboard.keepState()
        } catch {
            await switchboard.keepState()
            throw .broadcast(error)
        }
    }
}

extension SourceKind {
    /// Whether the desktop may ask a person for permission before it lets its screen be captured.
    var asksPerson: Bool {
        switch self {
        case .auto, .portal: true
        case .mutter, .node, .screenshot, .testPattern: false
        }
    }
}
