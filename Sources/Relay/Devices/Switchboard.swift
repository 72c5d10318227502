import HeliographAPI
import Logging
import Media
import NIOCore
import Wire

/// Connects the relay's parts: agents to broadcasts, access units to sessions, and calls to both.
@MediaLoop
final class Switchboard: AgentLinkOwner {
    /// The interval at which sessions check the clock, ns.
    private static let tickInterval: UInt64 = 100_000_000
    /// The interval at which event listeners get a sign of life.
    private static let wakeInterval = TimeAmount.seconds(15)
    /// How much later that may happen, to share a wake with other timers, ns.
    private static let tickRoom: UInt64 = 40_000_000

    private(set) var configuration: RelayConfiguration
    let sessions: SessionTable
    nonisolated let events: EventHub
    let webhooks: Webhooks
    /// The connections of callers and viewers.
    let connections: Connections
    let acceptPauses: AcceptPauses
    /// Where agents connect.
    private var agentLink: Endpoint
    /// When the relay started.
    let started = NIODeadline.now()

    private let logger: Logger
    private var broadcasts: [String: Broadcast] = [:]
    private let timer = SharedTimer()
    private var ticks: Int?
    /// The number of agents refused since the relay started, by code.
    private(set) var refused: [Reject.Code: UInt64] = [:]
    private var refusalLog = LogBudget()
    private var (refusedRecordings, refusedLayers) = (LogBudget(), LogBudget())
    /// Keeps the relay's state; `nil` if there is no state file.
    private let keeper: StateKeeper?
    private var statesTaken = 0
    /// The last published states of broadcasts and their sources, with the cause of the source's, by device.
    private var toldStates: [String: [String?]] = [:]
    /// The agents that were last published as linked, by device and role.
    private var toldLinks: Set<[String]> = []
    private var lastWake = NIODeadline.now()
    private var keptBroadcasts: [RelayState.Broadcast] = []
    private var draining = false
    private var lastViewers: Drain?
    let templates = Templates()
    let recordings: Recordings
    /// Pending starts of named sessions, by device and name.
    private var starts: [[String]: Waiters<Void>] = [:]
    let standing: StandingSessions
    /// Yields a value when the relay should end because no viewer is left. For one reader.
    let drained: AsyncStream<Void>
    private let drainedContinuation: AsyncStream<Void>.Continuation

    init(
        configuration: RelayConfiguration,
        connections: Connections,
        entrance: StreamEntrance?,
        events: EventHub,
        logger: Logger
    ) {
        self.configuration = configuration
        self.events = events
        webhooks = Webhooks(
            events: events,
            devices: configuration.devices.map(\.name),
            policy: configuration.webhookPolicy,
            logger: logger
        )
        self.connections = connections
        keeper = configuration.stateFile.map { StateKeeper(file: StateFile(path: $0), logger: logger) }
        self.logger = logger
        standing = StandingSessions(logger: logger)
        recordings = Recordings(configuration: configuration, logger: logger)
        (drained, drainedContinuation) = AsyncStream<Void>.makeStream()
        agentLink = configuration.agentLink
        acceptPauses = AcceptPauses(logger: logger)
        sessions = SessionTable(
            configuration: configuration,
            entrance: entrance,
            connections: connections,
            acceptPauses: acceptPauses,
            timer: timer,
            events: events,
            logger: logger
        )
        for device in configuration.devices {
            var logger = logger
            logger[metadataKey: "device"] = "\(device.name)"
            broadcasts[device.name] = Broadcast(device: device, events: events) { role in
                var logger = logger
                if role != .primary { logger[metadataKey: "role"] = "\(role.rawValue)" }
                return AgentSupervisor(
                    device: device,
                    role: role,
                    configuration: configuration,
                    agentLink: { [unowned self] in agentLink },
                    logger: logger
                )
            }
            broadcasts[device.name]?.changed = { [weak self] in self?.broadcastChanged(device.name) }
        }
        sessions.startSmall = { [unowned self] in await startSmall($0, of: $1) }
        ticks = timer.add { [weak self] in self?.tick() }
        scheduleTick()
        webhooks.change(to: configuration.webhooks)
    }

    /// Sets the agent listener's port. No agent is started before.
    func listens(onPort port: Int) { agentLink.port = port }

    /// All broadcasts, sorted by device name.
    var allBroadcasts: [Broadcast] { broadcasts.values.sorted { $0.device.name < $1.device.name } }

    func broadcast(of device: String) -> Broadcast? { broadcasts[device] }

    /// The broadcast for a call that names no device: that of `default`, or the only one; `nil` if that is ambiguous.
    var defaultBroadcast: Broadcast? {
        broadcasts[DeviceConfiguration.defaultName] ?? (broadcasts.count == 1 ? broadcasts.values.first : nil)
    }

    /// - Parameters:
    ///   - epoch: The monotonic instant of PTS 0, ns; `nil` for now.
    ///   - caller: The name of the caller's key.
    func startSession(
        _ request: SessionRequest,
        name: String? = nil,
        on broadcast: Broadcast,
        epoch: UInt64? = nil,
        by caller: String? = nil
    ) async throws(SessionError) -> Session {
        guard !isDraining else { throw .lastViewers }
        if request.record { try await openLibrary() }
        let session = try await sessions.start(
            request,
            name: name,
            of: broadcast.device,
            epoch: epoch,
            orders: broadcast
        )
        for role in AgentRole.allCases where broadcast.agent(role).link != nil {
            session.agentLinked(role, broadcast.agent(role).sourceState)
        }
        session.stream.soundChanged(to: broadcast.sound.tracks)
        // The relay may have begun to drain while the port was opened.
        session.isDraining = isDraining
        if request.record { session.recordedBy = caller }
        try? await recordings.follow(session)
        await keepState()
        return session
    }

    /// Starts the session with smaller pictures for viewers of another one.
    ///
    /// - Returns: `nil` if it cannot be started now.
    private func startSmall(_ request: SessionRequest, of whole: Session) async -> Session? {
        guard whole.isRunning, let broadcast = broadcasts[whole.device.name] else { return nil }
        do throws(SessionError) {
            return try await startSession(request, on: broadcast, epoch: whole.epoch)
        } catch {
            refusedLayers.log(.warning, to: logger, "session \(whole.id) gets no smaller layer: \(error)")
            return nil
        }
    }

    /// Opens the library before a recorded session starts or changes.
    private func openLibrary() async throws(SessionError) {
        do {
            _ = try await recordings.library().get()
        } catch {
            throw .noLibrary(reason: "\(error)")
        }
    }

    /// Creates the device's session with this name, or changes it to match `request`. Calls for the same name wait for
    /// each other.
    ///
    /// - Parameters:
    ///   - changes: Whether a session that exists is changed.
    ///   - caller: The name of the caller's key.
    /// - Returns: The session, and whether it is new.
    func putSession(
        _ name: String,
        _ request: SessionRequest,
        on broadcast: Broadcast,
        changes: Bool = true,
        by caller: String? = nil
    ) async throws(SessionError) -> (session: Session, isNew: Bool) {
        let key = [broadcast.device.name, name]
        while let start = starts[key] { await start.wait(until: .distantFuture) }
        if let session = sessions.session(named: name, of: broadcast.device.name) {
            if changes { try await changeSession(session, to: request, by: caller) }
            return (session, false)
        }
        let start = Waiters<Void>()
        starts[key] = start
        defer {
            starts[key] = nil
            start.resume(with: ())
        }
        return (try await startSession(request, name: name, on: broadcast, by: caller), true)
    }

    /// - Parameter caller: The name of the caller's key.
    func changeSession(
        _ session: Session,
        to request: SessionRequest,
        by caller: String? = nil
    ) async throws(SessionError) {
        let former = session.request
        if request.record, !former.record { try await openLibrary() }
        try session.change(to: request)
        if !former.record { session.recordedBy = request.record ? caller : nil }
        if session.request != former { session.events.publish(.sessionChanged) }
        // If the disk has failed meanwhile, the session's `recording` says so.
        try? await recordings.follow(session)
        await keepState()
    }

    /// Stops sessions and keeps the state once. The media loop does other work between them.
    func stop(_ ended: [Session]) async {
        // A small layer that only guests watch ends, too.
        let smalls = ended.compactMap(\.layers.small).filter { small in
            small.audience.count == small.audience.guestCount && !ended.contains { $0 === small }
        }
        for session in ended + smalls {
            let broadcast = broadcast(of: session.device.name)
            for role in AgentRole.allCases { broadcast?.send(.sessionRemove(session.id), to: role) }
            await sessions.stop(session)
            await recordings.stop(session.id)
        }
        await keepState()
    }

    // MARK: Another configuration

    /// Applies the settings that can change while the relay runs, and logs those that cannot.
    func change(to new: RelayConfiguration) {
        let (changed, fixed) = configuration.differences(to: new)
        configuration = configuration.taking(new)
        sessions.configuration = configuration
        recordings.configuration = configuration
        connections.limits = configuration.connections
        webhooks.change(to: configuration.webhooks)
        for device in configuration.devices {
            let former = broadcasts[device.name]?.device
            broadcasts[device.name]?.change(to: device, configuration)
            stand(device, former: former)
            guard device.isRecorded != former?.isRecorded || device.recordWhen != former?.recordWhen,
                let session = sessions.session(named: SharedSession.name, of: device.name)
            else { continue }
            var request = session.request
            (request.record, request.recordWhen) = (device.isRecorded, device.recordWhen)
            Task { [request] in try? await changeSession(session, to: request) }
        }
        startMissingSessions()
        for session in sessions.all {
            if let broadcast = broadcasts[session.device.name] { session.device = broadcast.device }
        }
        let names = changed.isEmpty ? "nothing has changed" : "changed: \(changed.joined(separator: ", "))"
        logger.notice("the configuration was read again; \(names)")
        if !fixed.isEmpty {
            logger.warning("the relay has to be started again for these to count: \(fixed.joined(separator: ", "))")
        }
    }

    // MARK: The end

    /// Whether the relay accepts no new viewers and will end.
    var isDraining: Bool { lastViewers != nil }

    /// Accepts no new sessions and viewers from now on, and ends when no viewer is left. A repeated call replaces the
    /// timeout.
    ///
    /// - Parameter timeout: How long until it ends even with viewers; `nil` for no limit.
    @discardableResult
    func letViewersFinish(timeout: TimeAmount?) -> Drain {
        let drain = Drain(now: .now(), timeout: timeout)
        lastViewers = drain
        for session in sessions.all { session.isDraining = true }
        let limit = timeout.map { ", for \($0.seconds) s at most" } ?? ""
        logger.notice("draining: nobody new is taken; the relay ends when \(viewerCount) viewers have gone\(limit)")
        return drain
    }

    /// The number of viewers of all sessions.
    var viewerCount: Int { sessions.all.reduce(0) { $0 + $1.audience.count } }

    /// Ends the relay if it drains and no viewer is left.
    private func endWhenDrained() {
        // A caller that waits for the screen counts as a viewer.
        let watched = sessions.all.count { $0.isWatched || $0.screenWatches.isUse }
        guard let lastViewers, lastViewers.isOver(viewers: watched, now: .now()) else { return }
        drainedContinuation.yield()
        drainedContinuation.finish()
    }

    /// Ends everything cleanly: first the viewers, so that they see the end of their streams, then the agents.
    func drain() async {
        // From here on the state is not kept, so that a restarted relay continues what ends now.
        draining = true
        await sessions.drain()
        await recordings.close()
        events.close()
        await withTaskGroup { group in
            for broadcast in broadcasts.values {
                group.addTask { await broadcast.drain() }
            }
        }
        // The ticks go on until here, because they notice when an adopted agent has ended.
        if let ticks { timer.remove(ticks) }
        ticks = nil
        await webhooks.end()
    }

    private func scheduleTick() {
        guard let ticks else { return }
        timer.set(ticks, at: NIODeadline.now().uptimeNanoseconds + Self.tickInterval, room: Self.tickRoom)
    }

    private func tick() {
        defer { scheduleTick() }
        for broadcast in broadcasts.values {
            let sessions = sessions.sessions(of: broadcast.device.name)
            for role in AgentRole.allCases { broadcast.agent(role).tick(sessions) }
            broadcast.inputs.tick()
            broadcast.control.tick()
        }
        if NIODeadline.now() - lastWake >= Self.wakeInterval {
            lastWake = .now()
            events.wake()
            recordings.clean()
            for broadcast in broadcasts.values { record(broadcast) }
            startMissingSessions()
            // The library could not be opened when they began.
            for session in sessions.all where session.request.record && session.recorder == nil {
                Task { try? await recordings.follow(session) }
            }
        }
        guard !draining else { return }
        endWhenDrained()
        boundViewerMemory()
        for session in sessions.all where session.tick() {
            logger.info("session \(session.id) ends: nobody watched it for its ttl")
            Task { await stop([session]) }
        }
        for broadcast in broadcasts.values {
            let hasSessions = !sessions.sessions(of: broadcast.device.name).isEmpty
            guard broadcast.isIdle(hasSessions: hasSessions) else { continue }
            logger.info(
                "the broadcast ends: it had no session for its ttl",
                metadata: ["device": "\(broadcast.device.name)"]
            )
            Task { await broadcast.stop(reason: "the broadcast had no session for its ttl") }
        }
    }

    /// Bytes handed to all viewers' connections and not taken yet.
    var viewerBytes: Int { sessions.all.reduce(0) { $1.audience.viewers.reduce($0) { $0 + $1.underWay } } }

    /// Closes the viewers that hold most bytes if all together exceed the limit.
    private func boundViewerMemory() {
        let viewers = sessions.all.flatMap { session in session.audience.viewers.lazy.map { (session, $0) } }
        let surplus = ViewerMemory(limit: configuration.viewerMemory).surplus(viewers.map { $0.1.underWay })
        for index in surplus { viewers[index].0.close(viewers[index].1, because: .memory) }
    }

    // MARK: The relay's next life

    /// Reopens the sessions that a previous relay had.
    func restoreSessions(_ state: RelayState) async {
        sessions.skipIDs(to: state.lastSession)
        for var kept in state.sessions {
            guard let broadcast = broadcasts[kept.device] else {
                logger.warning("session \(kept.id) is not restored: device \(kept.device) no longer exists")
                continue
            }
            let now = NIODeadline.now().uptimeNanoseconds
            if !state.isOfThisBoot { kept.epoch = now }
            guard kept.isSound(now: now) else {
                logger.warning("session \(kept.id) is left out: the state file has a value of it that is out of range")
                continue
            }
            guard ![configuration.http.port, configuration.agentLink.port].contains(kept.port) else {
                logger.warning("session \(kept.id) is left out: its port \(kept.port) is now the relay's own")
                continue
            }
            if [configuration.http.port, configuration.agentLink.port].contains(kept.soundPort) {
                kept.soundPort = nil
            }
            await sessions.restore(kept, of: broadcast.device, orders: broadcast)
        }
        recordings.begin()
        for session in sessions.all where session.request.record {
            // The relay does not wait for its library, which may have much to repair.
            Task { try? await recordings.follow(session) }
        }
    }

    /// Continues the broadcasts that a previous relay kept running. Their agents may have outlived it.
    func resumeBroadcasts(_ state: RelayState) {
        // Processes do not outlive their boot.
        for kept in (state.isOfThisBoot ? state.applications : nil) ?? [] where kept.isSound {
            broadcasts[kept.device]?.applications.restore(kept)
        }
        for var kept in state.broadcasts {
            if !state.isOfThisBoot { (kept.agent, kept.standby) = (nil, nil) }
            broadcasts[kept.device]?.resume(kept, grace: configuration.adoptionTime)
        }
    }

    // MARK: What exists without a call

    /// Starts the broadcasts and sessions that the configuration wants from the relay's start on.
    func standUp() {
        for device in configuration.devices { stand(device, former: nil) }
        startMissingSessions()
    }

    /// Starts what the configuration of a device wants, and its former one did not.
    private func stand(_ device: DeviceConfiguration, former: DeviceConfiguration?) {
        if device.isAutostarted, former?.isAutostarted != true { broadcasts[device.name]?.keepRunning() }
        standing.want(device.standingSessions, of: device.name, insteadOf: former?.standingSessions ?? [:])
    }

    private func startMissingSessions() {
        guard !draining, !isDraining else { return }
        Task {
            await standing.startMissing { (name, device) throws(SessionError) in
                guard let broadcast = broadcasts[device], let request = broadcast.device.standingSessions[name] else {
                    return
                }
                _ = try await putSession(name, request, on: broadcast)
            }
        }
    }

    /// Starts the recorded session of a device that is recorded whenever it is broadcast, unless it has a shared
    /// session.
    private func record(_ broadcast: Broadcast) {
        guard broadcast.device.isRecorded, !draining, !isDraining,
            [.live, .away].contains(broadcast.machine.state),
            sessions.session(named: SharedSession.name, of: broadcast.device.name) == nil
        else { return }
        Task {
            do throws(SessionError) {
                _ = try await SharedSession.record(on: broadcast, of: self)
            } catch {
                refusedRecordings.log(.error, to: logger, "device \(broadcast.device.name) is not recorded: \(error)")
            }
        }
    }

    private func broadcastChanged(_ device: String) {
        if let broadcast = broadcasts[device] {
            record(broadcast)
            let (state, source) = (broadcast.machine.state.rawValue, broadcast.machine.agent?.status)
            let states = [state, source?.state.rawValue, source?.cause]
            if (toldStates.updateValue(states, forKey: device) ?? ["idle", nil, nil]) != states {
                events.publish(.broadcastChanged, device: device, state: state)
            }
            for role in AgentRole.allCases {
                let (key, isLinked) = ([device, role.rawValue], broadcast.agent(role).link != nil)
                guard isLinked != toldLinks.contains(key) else { continue }
                if isLinked { toldLinks.insert(key) } else { toldLinks.remove(key) }
                events.publish(isLinked ? .agentLinked : .agentLost, device: device, state: role.rawValue)
            }
        }
        guard !draining, allBroadcasts.compactMap(\.state) != keptBroadcasts else { return }
        Task { await keepState() }
    }

    /// Returns when the current state has been kept.
    func keepState() async {
        guard let keeper, !draining else { return }
        statesTaken += 1
        keptBroadcasts = allBroadcasts.compactMap(\.state)
        let state = RelayState(
            linkToken: configuration.linkToken.value,
            linkSecret: configuration.linkSecret,
            lastSession: sessions.lastID,
            // A small layer is started again when it is needed.
            sessions: sessions.all.filter { $0.layers.whole == nil }.map(\.kept),
            broadcasts: keptBroadcasts,
            applications: allBroadcasts.flatMap(\.applications.kept)
        )
        await keeper.keep(state, number: statesTaken)
    }

    // MARK: AgentLinkOwner

    func objection(to hello: Hello, on channel: any Channel) async -> Reject? {
        let users = AgentUsers(others: configuration.agentUsers)
        if let objection = await users.objection(to: channel) { return objection }
        guard let broadcast = broadcasts[hello.device] else {
            let names = broadcasts.keys.sorted().joined(separator: ", ")
            return Reject(code: .unknownDevice, reason: "Unknown device '\(hello.device)'. Devices: \(names).")
        }
        return broadcast.agent(hello.role).objection()
    }

    func linkRefused(_ reject: Reject) {
        refused[reject.code, default: 0] += 1
        refusalLog.log(.warning, to: logger, "refused an agent: \(reject.reason) (\(reject.code.rawValue))")
    }

    func linkAdmitted(_ link: AgentLink, hello: Hello) {
        let agent = AgentIdentity(hello)
        supervisor(of: agent)?.connected(link, hello: hello)
        let ids = sessions.sessions(of: hello.device).map(\.id)
        // From another thread, so that the media loop serves its sockets in between: hundreds of sessions take longer
        // than pictures may wait.
        Task.detached { [weak self] in
            for id in ids { await self?.introduce(id, to: agent, over: link) }
        }
    }

    /// Tells a newly linked agent about a session that already exists.
    private func introduce(_ id: SessionID, to agent: AgentIdentity, over link: AgentLink) {
        // The session or the link may have ended meanwhile.
        guard let session = sessions[id], let supervisor = supervisor(of: agent), supervisor.link === link else {
            return
        }
        session.agentLinked(agent.role, supervisor.sourceState)
    }

    func link(_ link: AgentLink, received packet: Packet, from agent: AgentIdentity) {
        switch packet {
        case .heartbeat(let heartbeat):
            guard let supervisor = supervisor(of: agent) else { break }
            supervisor.received(heartbeat) { session($0, of: agent)?.source.restTally(of: agent.role) }
            for figures in supervisor.heartbeats.latest?.sessions ?? [] where figures.awaitsTurn == true {
                session(figures.session, of: agent)?.source.awaitsTurn(of: agent.role)
            }
        case .rest(let id, let rest):
            if session(id, of: agent)?.source.rest(rest, from: agent.role) != true { link.countReport() }
        case .wake(let id):
            if session(id, of: agent)?.source.wake(agent.role) != true { link.countReport() }
        case .status(let status):
            supervisor(of: agent)?.received(status)
            for session in sessions.sessions(of: agent.device) {
                session.source.sourceReported(agent.role, status.state)
            }
        case .sessionError(let id, let failure):
            if let session = session(id, of: agent) { supervisor(of: agent)?.received(failure, of: session) }
        case .snapshot(let id, let snapshot):
            session(id, of: agent)?.snapshots.received(snapshot, from: agent.role)
        case .watched(let id, let report):
            session(id, of: agent)?.screenWatches.received(report, from: agent.role)
        case .encoders(let reports):
            supervisor(of: agent)?.received(reports)
        case .inputDone(_, let report):
            if broadcasts[agent.device]?.inputs.received(report, from: agent.role) != true { link.countReport() }
        case .clipboardDone(let report):
            if broadcasts[agent.device]?.clipboard.received(report, from: agent.role) != true { link.countReport() }
        case .gamepadFeedback(let report):
            if broadcasts[agent.device]?.gamepads.received(report, from: agent.role) != true { link.countReport() }
        case .speechReport(let report):
            if agent.role == .primary { broadcasts[agent.device]?.microphone.received(report) }
        case .applicationDone(let answer):
            if broadcasts[agent.device]?.applications.received(answer, from: agent.role) != true { link.countReport() }
        case .inputs(let capabilities):
            supervisor(of: agent)?.received(capabilities)
        case .tracks(let tracks):
            guard let sound = broadcasts[agent.device]?.sound else { break }
            sound.received(tracks, from: agent.role)
            soundChanged(to: sound.tracks, of: agent.device)
        case .hello, .welcome, .reject, .sessionAdd, .sessionUpdate, .sessionRemove, .keyframeRequest, .snapshotRequest,
            .rested, .watch, .unwatch, .input, .clipboard, .application, .gamepad, .listen, .speech, .stop,
            .unreadHeartbeat, .accessUnit:
            // The decoder and the link reject these packets.
            break
        }
    }

    func link(
        _ link: AgentLink,
        received unit: EncodedUnit<ByteBuffer>,
        of id: SessionID,
        from agent: AgentIdentity
    ) {
        guard unit.header.track == MediaTrack.videoID else {
            // The device's sound, which all its sessions share.
            guard id == 0, let unit = broadcasts[agent.device]?.sound.accept(unit, from: agent.role) else { return }
            for session in sessions.sessions(of: agent.device) { session.source.acceptSound(unit, from: agent.role) }
            return
        }
        if let session = session(id, of: agent), !session.source.accept(unit, from: agent.role) {
            supervisor(of: agent)?.receivedMalformedUnit(of: session)
        }
    }

    func link(_ link: AgentLink, lostBecause loss: LinkLoss, of agent: AgentIdentity) {
        let supervisor = supervisor(of: agent)
        let cause = supervisor?.cause(of: loss)
        for session in sessions.sessions(of: agent.device) { session.agentLost(agent.role, because: cause) }
        supervisor?.lost(because: loss)
        broadcasts[agent.device]?.inputs.agentLost(agent.role)
        broadcasts[agent.device]?.clipboard.agentLost(agent.role)
        broadcasts[agent.device]?.gamepads.agentLost(agent.role)
        broadcasts[agent.device]?.applications.agentLost(agent.role)
        if agent.role == .primary { broadcasts[agent.device]?.microphone.agentLost() }
        if let sound = broadcasts[agent.device]?.sound {
            sound.agentLost(agent.role)
            soundChanged(to: sound.tracks, of: agent.device)
        }
    }

    private func soundChanged(to tracks: [MediaTrack], of device: String) {
        for session in sessions.sessions(of: device) {
            session.stream.soundChanged(to: tracks)
            session.source.follow()
            session.soundWaits.captureChanged()
        }
    }

    private func supervisor(of agent: AgentIdentity) -> AgentSupervisor? { broadcasts[agent.device]?.agent(agent.role) }

    /// Returns the session if it belongs to the agent's device, because an agent feeds no other.
    private func session(_ id: SessionID, of agent: AgentIdentity) -> Session? {
        guard let session = sessions[id], session.device.name == agent.device else { return nil }
        return session
    }
}
