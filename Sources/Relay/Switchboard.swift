import Logging
import NIOCore
import Wire

/// Connects the relay's parts: agents to broadcasts, access units to sessions, calls to both.
@MediaLoop
final class Switchboard: AgentLinkOwner {
    /// How often sessions look at the clock.
    private static let tickInterval = TimeAmount.milliseconds(100)

    let configuration: RelayConfiguration
    let sessions: SessionTable
    /// Where agents connect.
    private var agentLink: Endpoint
    /// When the relay started.
    let started = NIODeadline.now()

    private let logger: Logger
    private var broadcasts: [String: Broadcast] = [:]
    private var ticks: RepeatedTask?
    /// Agents refused since the relay started, by code.
    private(set) var refused: [Reject.Code: UInt64] = [:]
    private var refusalLog = LogBudget()

    init(configuration: RelayConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        agentLink = configuration.agentLink
        sessions = SessionTable(configuration: configuration, logger: logger)
        for device in configuration.devices {
            var logger = logger
            logger[metadataKey: "device"] = "\(device.name)"
            broadcasts[device.name] = Broadcast(
                device: device,
                configuration: configuration,
                agentLink: { [unowned self] in agentLink },
                logger: logger
            )
        }
        ticks = MediaLoop.eventLoop.scheduleRepeatedTask(initialDelay: Self.tickInterval, delay: Self.tickInterval) {
            [weak self] task in
            MediaLoop.assumeIsolated { self?.tick() }
        }
    }

    /// The agent listener is bound; nothing is started before.
    func listens(onPort port: Int) { agentLink.port = port }

    /// The broadcasts, by device name.
    var allBroadcasts: [Broadcast] { broadcasts.values.sorted { $0.device.name < $1.device.name } }

    func broadcast(of device: String) -> Broadcast? { broadcasts[device] }

    /// The broadcast that a call means which names no device: that of `default`, or the only one; nil when that is not clear.
    var defaultBroadcast: Broadcast? {
        broadcasts[DeviceConfiguration.defaultName] ?? (broadcasts.count == 1 ? broadcasts.values.first : nil)
    }

    func startSession(_ request: SessionRequest, on broadcast: Broadcast) async throws(SessionError) -> Session {
        let session = try await sessions.start(request, of: broadcast.device) { [weak broadcast] in broadcast?.send($0)
        }
        broadcast.send(.sessionAdd(session.id, session.parameters))
        return session
    }

    func stopSession(_ session: Session) async {
        broadcast(of: session.device.name)?.send(.sessionRemove(session.id))
        await sessions.stop(session)
    }

    /// Ends everything in good order: viewers first, so that they see the end of their streams, then the agents.
    func drain() async {
        ticks?.cancel()
        await sessions.drain()
        await withTaskGroup { group in
            for broadcast in broadcasts.values {
                group.addTask { await broadcast.drain() }
            }
        }
    }

    private func tick() {
        for session in sessions.all where session.tick() {
            logger.info("session \(session.id) ends: nobody watched it for its ttl")
            Task { await stopSession(session) }
        }
    }

    // MARK: AgentLinkOwner

    func objection(to hello: Hello) -> Reject? {
        guard let broadcast = broadcasts[hello.device] else {
            let names = broadcasts.keys.sorted().joined(separator: ", ")
            return Reject(code: .unknownDevice, reason: "no device is called \(hello.device); there is: \(names)")
        }
        return broadcast.objection()
    }

    func linkRefused(_ reject: Reject) {
        refused[reject.code, default: 0] += 1
        refusalLog.log(.warning, to: logger, "refused an agent: \(reject.reason) (\(reject.code.rawValue))")
    }

    func linkAdmitted(_ link: AgentLink, hello: Hello) {
        broadcasts[hello.device]?.connected(link, hello: hello)
        for session in sessions.sessions(of: hello.device) {
            link.send(.sessionAdd(session.id, session.parameters))
        }
    }

    func link(_ link: AgentLink, received packet: Packet, device: String) {
        switch packet {
        case .accessUnit(let id, let accessUnit):
            session(id, of: device)?.accept(accessUnit)
        case .heartbeat(let heartbeat):
            broadcasts[device]?.received(heartbeat)
        case .status(let status):
            broadcasts[device]?.received(status)
        case .sessionError(let id, let failure):
            if let session = session(id, of: device) { broadcasts[device]?.received(failure, of: session) }
        case .encoders(let reports):
            broadcasts[device]?.received(reports)
        case .hello, .welcome, .reject, .sessionAdd, .sessionUpdate, .sessionRemove, .keyframeRequest, .stop:
            // The decoder and the link's state machine let none of them through.
            break
        }
    }

    func link(_ link: AgentLink, lostBecause loss: LinkLoss, device: String) {
        for session in sessions.sessions(of: device) { session.agentLost() }
        broadcasts[device]?.lost(because: loss)
    }

    /// The session, if it is one of this device: an agent feeds no other's.
    private func session(_ id: SessionID, of device: String) -> Session? {
        guard let session = sessions[id], session.device.name == device else { return nil }
        return session
    }
}
