import HeliographAPI
import Logging
import Media
import NIOCore
import Wire

/// The sessions of all devices.
@MediaLoop
final class SessionTable {
    /// How many ports are tried from the base at least.
    private static let portRange = 1000

    private struct Entry {
        let session: Session
        let listener: StreamListener
    }

    /// What new sessions are made by.
    var configuration: RelayConfiguration
    private let logger: Logger
    /// Nil where viewers on the sessions' ports go through nothing.
    private let entrance: StreamEntrance?
    private let connections: Connections
    private let acceptPauses: AcceptPauses
    private let company: SessionRest.Company
    private var entries: [SessionID: Entry] = [:]
    /// Sessions that are opening their port, by device.
    private var opening: [String: Int] = [:]
    private(set) var lastID: SessionID = 0
    private var draining = false

    init(
        configuration: RelayConfiguration,
        entrance: StreamEntrance?,
        connections: Connections,
        acceptPauses: AcceptPauses,
        timer: SharedTimer,
        logger: Logger
    ) {
        self.configuration = configuration
        self.entrance = entrance
        self.connections = connections
        self.acceptPauses = acceptPauses
        company = SessionRest.Company(timer: timer)
        self.logger = logger
    }

    subscript(id: SessionID) -> Session? { entries[id]?.session }

    /// In the order of their ids.
    private(set) var all: [Session] = []

    func sessions(of device: String) -> [Session] { all.filter { $0.device.name == device } }

    /// By the names of their devices.
    var byDevice: [String: [Session]] { Dictionary(grouping: all) { $0.device.name } }

    /// Opens a session's port and lists it.
    func start(
        _ request: SessionRequest,
        of device: DeviceConfiguration,
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
            device: device,
            request: request,
            viewerLimits: configuration.viewerQueueLimits,
            viewerTimeout: configuration.viewerTimeout,
            company: company,
            logger: logger,
            orders: orders
        )
        try await open(session, port: session.request.port)
        logger.info("session \(session.id) started", metadata: ["device": "\(device.name)", "port": "\(session.port)"])
        return session
    }

    /// Opens a session again that was there before the relay ended, with its id and port.
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
        let session = Session(
            id: kept.id,
            device: device,
            request: kept.request,
            kept: kept,
            viewerLimits: configuration.viewerQueueLimits,
            viewerTimeout: configuration.viewerTimeout,
            company: company,
            logger: logger,
            orders: orders
        )
        do throws(SessionError) {
            try await open(session, port: kept.port)
            logger.info("session \(kept.id) goes on", metadata: ["device": "\(device.name)", "port": "\(kept.port)"])
        } catch {
            logger.warning("session \(kept.id) of the relay's former life cannot go on: \(error)")
        }
    }

    /// Takes note that ids up to this one were used. Half of all ids stay for new sessions, whatever a damaged state file says.
    func skipIDs(to id: SessionID) { lastID = max(lastID, min(id, .max / 2)) }

    private func open(_ session: Session, port: Int) async throws(SessionError) {
        let listener = try await listen(session, wanted: port)
        guard !draining else {
            await listener.close()
            throw .draining
        }
        session.port = listener.port
        entries[session.id] = Entry(session: session, listener: listener)
        all.insert([session], before: all.firstIndex { $0.id > session.id } ?? all.count)
    }

    /// Ends a session: its viewers' streams end and its port closes.
    func stop(_ session: Session) async {
        guard let entry = entries.removeValue(forKey: session.id) else { return }
        all.removeAll { $0 === session }
        entry.session.end()
        await entry.listener.close()
        logger.info("session \(session.id) stopped")
    }

    /// Ends all sessions for good.
    func drain() async {
        draining = true
        for session in all { await stop(session) }
    }

    /// - Parameter wanted: 0 for the first free port.
    private func listen(_ session: Session, wanted: Int) async throws(SessionError) -> StreamListener {
        if wanted != 0 {
            guard let listener = try await listen(session, port: wanted) else { throw .portInUse(wanted) }
            return listener
        }
        let base = configuration.sessionPortBase
        // Enough for all sessions of all devices: none of them takes another's.
        let count = max(Self.portRange, configuration.devices.reduce(0) { $0 + $1.maximumSessions })
        let ports = base == 0 ? 0...0 : base...min(base + count - 1, Int(UInt16.max))
        let taken = Set(entries.values.map(\.session.port))
        for port in ports where !taken.contains(port) {
            if let listener = try await listen(session, port: port) { return listener }
        }
        throw .noFreePort(first: ports.lowerBound, last: ports.upperBound)
    }

    /// nil when `port` is taken.
    private func listen(_ session: Session, port: Int) async throws(SessionError) -> StreamListener? {
        do {
            return try await StreamListener(
                host: configuration.http.host,
                port: port,
                session: session,
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
