import HeliographAPI
import Logging
import Media
import NIOCore
import Wire

/// The sessions of all devices.
@MediaLoop
final class SessionTable {
    /// The least number of ports to try, counted from the base port.
    private static let portRange = 1000

    private struct Entry {
        let session: Session
        let listeners: [StreamListener]
    }

    /// Starts a session with smaller pictures for viewers of another one; `nil` if it cannot be started now.
    var startSmall: @MediaLoop (SessionRequest, Session) async -> Session? = { _, _ in nil }
    /// The configuration for new sessions.
    var configuration: RelayConfiguration
    private let logger: Logger
    /// The checks for viewers on the sessions' ports; `nil` if there are none.
    private let entrance: StreamEntrance?
    private let connections: Connections
    private let acceptPauses: AcceptPauses
    private let company: SessionRest.Company
    private let events: EventHub
    private var entries: [SessionID: Entry] = [:]
    /// The number of sessions that are opening their port, by device.
    private var opening: [String: Int] = [:]
    private(set) var lastID: SessionID = 0
    private var draining = false

    init(
        configuration: RelayConfiguration,
        entrance: StreamEntrance?,
        connections: Connections,
        acceptPauses: AcceptPauses,
        timer: SharedTimer,
        events: EventHub,
        logger: Logger
    ) {
        self.events = events
        self.configuration = configuration
        self.entrance = entrance
        self.connections = connections
        self.acceptPauses = acceptPauses
        company = SessionRest.Company(timer: timer)
        self.logger = logger
    }

    subscript(id: SessionID) -> Session? { entries[id]?.session }

    /// All sessions, ordered by id.
    private(set) var all: [Session] = []

    func sessions(of device: String) -> [Session] { all.filter { $0.device.name == device } }

    func session(named name: String, of device: String) -> Session? {
        all.first { $0.name == name && $0.device.name == device }
    }

    /// The sessions by the name of their device.
    var byDevice: [String: [Session]] { Dictionary(grouping: all) { $0.device.name } }

    /// Opens a session's port and lists it.
    ///
    /// - Parameter epoch: The monotonic instant of PTS 0, ns; `nil` for now.
    func start(
        _ request: SessionRequest,
        name: String?,
        of device: DeviceConfiguration,
        epoch: UInt64?,
        orders: any AgentOrders
    ) async throws(SessionError) -> Session {
        guard !draining else { throw .draining }
        let count = sessions(of: device.name).count + opening[device.name, default: 0]
        guard count < device.maximumSessions else {
            throw .tooMany(device: device.name, limit: device.maximumSessions)
        }
        guard lastID < .max else { throw .cannotListen(reason: "no session id is left: restart the relay") }
        opening[device.name, default: 0] += 1
        defer { opening[device.name, default: 0] -= 1 }
        lastID += 1
        let session = Session(
            id: lastID,
            name: name,
            device: device,
            request: request,
            epoch: epoch,
            viewerLimits: configuration.viewerQueueLimits,
            viewerTimeout: configuration.viewerTimeout,
            company: company,
            events: events,
            logger: logger,
            orders: orders
        )
        try await open(session, port: session.request.port, soundPort: nil)
        logger.info("session \(session.id) started", metadata: ["device": "\(device.name)", "port": "\(session.port)"])
        return session
    }

    /// Reopens a session from before a restart of the relay, with its id and port.
    func restore(
        _ kept: RelayState.Session,
        of device: DeviceConfiguration,
        orders: any AgentOrders
    ) async {
        guard kept.id >= 1, kept.id <= lastID, entries[kept.id] == nil else {
            logger.warning(
                "session \(kept.id) is left out: the state file has its id twice, or as one that was never used"
            )
            return
        }
        if let name = kept.name, session(named: name, of: device.name) != nil {
            return logger.warning("session \(kept.id) is left out: the state file has its name twice")
        }
        let session = Session(
            id: kept.id,
            name: kept.name,
            device: device,
            request: kept.request,
            kept: kept,
            viewerLimits: configuration.viewerQueueLimits,
            viewerTimeout: configuration.viewerTimeout,
            company: company,
            events: events,
            logger: logger,
            orders: orders
        )
        do throws(SessionError) {
            try await open(session, port: kept.port, soundPort: kept.soundPort)
            logger.info("session \(kept.id) restored", metadata: ["device": "\(device.name)", "port": "\(kept.port)"])
        } catch {
            logger.warning("session \(kept.id) cannot be restored: \(error)")
        }
    }

    /// Marks the ids up to this one as used. Half of all ids stay free, even if a damaged state file says otherwise.
    func skipIDs(to id: SessionID) { lastID = max(lastID, min(id, .max / 2)) }

    /// Opens the session's ports and lists it.
    ///
    /// - Parameters:
    ///   - port: The port of its pictures; 0 for the first free one.
    ///   - soundPort: That of its sound, if it has one; another one if that is taken, or for `nil`.
    private func open(_ session: Session, port: Int, soundPort: Int?) async throws(SessionError) {
        let listener = try await listen(session, wanted: port)
        var listeners = [listener]
        if session.hasSoundPort {
            do throws(SessionError) {
                listeners.append(try await listenForSound(session, wanted: soundPort, beside: listener.port))
            } catch {
                logger.warning("the sound of session \(session.id) has no port: \(error)")
            }
        }
        guard !draining else {
            for listener in listeners { await listener.close() }
            throw .draining
        }
        (session.port, session.soundPort) = (listener.port, listeners.dropFirst().first?.port)
        session.layers.start = { [weak self, weak session] request in
            if let self, let session { await startSmall(request, session) } else { nil }
        }
        entries[session.id] = Entry(session: session, listeners: listeners)
        all.insert([session], before: all.firstIndex { $0.id > session.id } ?? all.count)
        session.events.publish(.sessionStarted)
    }

    /// Ends a session: its viewers' streams end and its port closes.
    func stop(_ session: Session) async {
        guard let entry = entries.removeValue(forKey: session.id) else { return }
        all.removeAll { $0 === session }
        entry.session.end()
        session.events.publish(.sessionEnded)
        for listener in entry.listeners { await listener.close() }
        logger.info("session \(session.id) stopped")
    }

    /// Ends all sessions and accepts no new ones.
    func drain() async {
        draining = true
        for session in all { await stop(session) }
    }

    /// Opens the session's port.
    ///
    /// - Parameter wanted: The port; 0 for the first free one.
    private func listen(_ session: Session, wanted: Int) async throws(SessionError) -> StreamListener {
        if wanted != 0 {
            guard let listener = try await listen(session, port: wanted, .pictures) else { throw .portInUse(wanted) }
            return listener
        }
        return try await listen(session, .pictures, at: ports, besides: [])
    }

    /// The ports to try for sessions that name none.
    private var ports: [Int] {
        let base = configuration.sessionPortBase
        // The range has room for all sessions of all devices, so no device takes another's port.
        let count = max(Self.portRange, configuration.devices.reduce(0) { $0 + $1.maximumSessions })
        return Array(base == 0 ? 0...0 : base...min(base + count - 1, Int(UInt16.max)))
    }

    /// Opens the port of the session's sound.
    private func listenForSound(
        _ session: Session,
        wanted: Int?,
        beside port: Int
    ) async throws(SessionError) -> StreamListener {
        if let wanted, let listener = try await listen(session, port: wanted, .sound) { return listener }
        // From the end, because sessions often name the ports that follow each other from the beginning.
        let others: Set = [port, configuration.http.port, configuration.agentLink.port]
        return try await listen(session, .sound, at: ports.reversed(), besides: others)
    }

    /// Opens the first free one of some ports.
    private func listen(
        _ session: Session,
        _ content: StreamListener.Content,
        at ports: [Int],
        besides others: Set<Int>
    ) async throws(SessionError) -> StreamListener {
        let taken = others.subtracting([0]).union(entries.values.flatMap { $0.listeners.map(\.port) })
        for port in ports where !taken.contains(port) {
            if let listener = try await listen(session, port: port, content) { return listener }
        }
        throw .noFreePort(first: ports.min() ?? 0, last: ports.max() ?? 0)
    }

    /// Returns `nil` if `port` is taken.
    private func listen(
        _ session: Session,
        port: Int,
        _ content: StreamListener.Content
    ) async throws(SessionError) -> StreamListener? {
        do {
            return try await StreamListener(
                host: configuration.http.host,
                port: port,
                of: session,
                content: content,
                limits: configuration.viewerQueueLimits,
                entrance: entrance,
                connections: connections,
                pauses: acceptPauses
            )
        } catch let error as IOError where error.errnoCode == RelayStartError.addressInUse {
            return nil
        } catch {
            logger.error("cannot open the port of session \(session.id): \(error)")
            throw .cannotListen(reason: "\(error)")
        }
    }
}
