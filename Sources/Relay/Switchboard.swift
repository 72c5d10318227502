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
    /// nil when nothing is kept.
    private let keeper: StateKeeper?
    private var statesTaken = 0
    private var keptSources: [String: SourceRequest] = [:]
    private var draining = false

    init(configuration: RelayConfiguration, logger: Logger) {
        self.configuration = configuration
        keeper = configuration.stateFile.map { StateKeeper(file: StateFile(path: $0), logger: logger) }
        self.logger = logger
        agentLink = configuration.agentLink
        sessions = SessionTable(configuration: configuration, logger: logger)
        for device in configuration.devices {
            var logger = logger
            logger[metadataKey: "device"] = "\(device.name)"
            broadcasts[device.name] = Broadcast(device: device) { role in
                var logger = logger
                if role != .broadcast { logger[metadataKey: "role"] = "\(role.rawValue)" }
                return AgentSupervisor(
                    device: device,
                    role: role,
                    configuration: configuration,
                    agentLink: { [unowned self] in agentLink },
                    logger: logger
                )
            }
            broadcasts[device.name]?.changed = { [weak self] in self?.broadcastChanged() }
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
        let session = try await sessions.start(request, of: broadcast.device) { [weak broadcast] packet, role in
            broadcast?.agent(role).send(packet)
        }
        for role in AgentRole.allCases {
            let agent = broadcast.agent(role)
            if agent.link != nil { session.agentLinked(role, source: agent.machine.agent?.status?.state) }
        }
        await keepState()
        return session
    }

    func changeSession(_ session: Session, _ change: SessionChange) async {
        session.change(change)
        await keepState()
    }

    func stopSession(_ session: Session) async {
        let broadcast = broadcast(of: session.device.name)
        for role in AgentRole.allCases { broadcast?.agent(role).send(.sessionRemove(session.id)) }
        await sessions.stop(session)
        await keepState()
    }

    /// Ends everything in good order: viewers first, so that they see the end of their streams, then the agents.
    func drain() async {
        // What ends now is to go on when the relay is started again.
        draining = true
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

    // MARK: The relay's next life

    /// Opens the sessions again that were there before the relay ended.
    func restoreSessions(_ state: RelayState) async {
        sessions.skipIDs(to: state.lastSession)
        for var kept in state.sessions {
            guard let broadcast = broadcasts[kept.device] else {
                logger.warning("session \(kept.id) is left out: there is no device \(kept.device) any more")
                continue
            }
            if !state.isOfThisBoot { kept.epoch = NIODeadline.now().uptimeNanoseconds }
            await sessions.restore(kept, of: broadcast.device) { [weak broadcast] packet, role in
                broadcast?.agent(role).send(packet)
            }
        }
    }

    /// Goes on with the broadcasts that the relay kept running. Their agents may have outlived it.
    func resumeBroadcasts(_ state: RelayState) {
        for kept in state.broadcasts {
            broadcasts[kept.device]?.resume(kept.source, grace: configuration.adoptionTime)
        }
    }

    private func broadcastChanged() {
        let sources = broadcasts.compactMapValues(\.keptSource)
        guard !draining, sources != keptSources else { return }
        keptSources = sources
        Task { await keepState() }
    }

    /// Returns when the state as it is now has been kept.
    func keepState() async {
        guard let keeper, !draining else { return }
        statesTaken += 1
        let state = RelayState(
            linkToken: configuration.linkToken.value,
            lastSession: sessions.lastID,
            sessions: sessions.all.map(\.state),
            broadcasts: keptSources.map { .init(device: $0.key, source: $0.value) }.sorted { $0.device < $1.device }
        )
        await keeper.keep(state, number: statesTaken)
    }

    // MARK: AgentLinkOwner

    func objection(to hello: Hello) -> Reject? {
        guard let broadcast = broadcasts[hello.device] else {
            let names = broadcasts.keys.sorted().joined(separator: ", ")
            return Reject(code: .unknownDevice, reason: "no device is called \(hello.device); there is: \(names)")
        }
        return broadcast.agent(hello.role).objection()
    }

    func linkRefused(_ reject: Reject) {
        refused[reject.code, default: 0] += 1
        refusalLog.log(.warning, to: logger, "refused an agent: \(reject.reason) (\(reject.code.rawValue))")
    }

    func linkAdmitted(_ link: AgentLink, hello: Hello) {
        supervisor(of: hello)?.connected(link, hello: hello)
        for session in sessions.sessions(of: hello.device) { session.agentLinked(hello.role, source: nil) }
    }

    func link(_ link: AgentLink, received packet: Packet, from agent: Hello) {
        switch packet {
        case .accessUnit(let id, let accessUnit):
            session(id, of: agent)?.accept(accessUnit, from: agent.role)
        case .heartbeat(let heartbeat):
            supervisor(of: agent)?.received(heartbeat)
        case .status(let status):
            supervisor(of: agent)?.received(status)
            for session in sessions.sessions(of: agent.device) { session.sourceReported(agent.role, status.state) }
        case .sessionError(let id, let failure):
            if let session = session(id, of: agent) { supervisor(of: agent)?.received(failure, of: session) }
        case .encoders(let reports):
            supervisor(of: agent)?.received(reports)
        case .hello, .welcome, .reject, .sessionAdd, .sessionUpdate, .sessionRemove, .keyframeRequest, .stop:
            // The decoder and the link's state machine let none of them through.
            break
        }
    }

    func link(_ link: AgentLink, lostBecause loss: LinkLoss, of agent: Hello) {
        let supervisor = supervisor(of: agent)
        let cause = supervisor?.cause(of: loss)
        for session in sessions.sessions(of: agent.device) { session.agentLost(agent.role, because: cause) }
        supervisor?.lost(because: loss)
    }

    private func supervisor(of agent: Hello) -> AgentSupervisor? { broadcasts[agent.device]?.agent(agent.role) }

    /// The session, if it is one of the agent's device: an agent feeds no other's.
    private func session(_ id: SessionID, of agent: Hello) -> Session? {
        guard let session = sessions[id], session.device.name == agent.device else { return nil }
        return session
    }
}
