import HeliographAPI
import Logging
import Media
import NIOCore
import Program
import Wire

/// Runs a device's agent of one role: performs what the state machine decides for its process and link, and answers
/// callers that wait for it.
@MediaLoop
final class AgentSupervisor {
    private enum Process {
        /// The process's task; cancelling it ends the process.
        case started(Task<Void, Never>)
        case adopted(AdoptedProcess)
    }

    private(set) var device: DeviceConfiguration
    let role: AgentRole
    private var configuration: RelayConfiguration
    private let logger: Logger
    /// Where agents connect; known once the listener is bound.
    private let agentLink: @MediaLoop () -> Endpoint

    private(set) var machine: AgentLifecycle
    private(set) var link: AgentLink?
    private(set) var heartbeats = HeartbeatHistory()
    /// The results of the agent's encoder probes; `nil` until it reports them.
    private(set) var encoders: [EncoderReport]?
    /// How the agent can act on its screen; `nil` until it says so.
    private(set) var inputs: InputCapabilities?
    /// The number of links admitted since the relay started.
    private(set) var linksAdmitted = 0
    /// Access units discarded since the relay started because they do not begin with a NAL unit, or have too many.
    private(set) var malformedUnits: UInt64 = 0
    /// Links lost since the relay started, by cause, not counting stops.
    private(set) var losses: [FeedSwitch.Cause: Int] = [:]

    private var process: Process?
    /// The identity of the process that the relay may end; `nil` if there is none, or it is unknown.
    private(set) var processIdentity: ProcessIdentity?
    /// Limits the agent's log lines from its link.
    private var linkLog = LogBudget()
    private var timer: Scheduled<Void>?
    private var startWaiters = Waiters<Result<StartTimings, BroadcastError>>()
    private var stopWaiters = Waiters<Void>()
    private var draining = false
    /// Called after every change of ``machine``.
    var changed: @MediaLoop () -> Void = {}

    init(
        device: DeviceConfiguration,
        role: AgentRole,
        configuration: RelayConfiguration,
        agentLink: @escaping @MediaLoop () -> Endpoint,
        logger: Logger
    ) {
        self.device = device
        self.role = role
        self.configuration = configuration
        self.agentLink = agentLink
        self.logger = logger
        machine = AgentLifecycle(policy: Self.policy(device, role, configuration), now: .now())
    }

    private static func policy(
        _ device: DeviceConfiguration,
        _ role: AgentRole,
        _ configuration: RelayConfiguration
    ) -> AgentLifecycle.Policy {
        AgentLifecycle.Policy(
            defaultSource: device.source,
            returnGrace: configuration.agentReturnGrace,
            stopGrace: configuration.agentStopGrace,
            backoff: configuration.restartBackoff,
            outlivesLostSource: { role == .primary && device.fallback(for: $0) != nil }
        )
    }

    /// Changes the settings for the next start.
    func change(to device: DeviceConfiguration, _ configuration: RelayConfiguration) {
        self.device = device
        self.configuration = configuration
        machine.policy = Self.policy(device, role, configuration)
    }

    /// Starts the agent, or waits for a pending start.
    ///
    /// - Parameter outlastsDialogs: Whether the timeout does not count while the desktop waits for a person's answer.
    /// - Returns: The start's timings; `nil` if the agent was already live.
    func start(
        source: SourceRequest?,
        timeout: TimeAmount,
        outlastsDialogs: Bool,
        ttl: Int?
    ) async throws(BroadcastError) -> StartTimings? {
        let deadline = NIODeadline.now() + timeout
        while true {
            guard !draining else { throw .draining }
            let decision = machine.startRequested(
                source: source,
                timeout: deadline - .now(),
                outlastsDialogs: outlastsDialogs,
                ttl: ttl,
                now: .now()
            )
            switch decision {
            case .alreadyRunning:
                return nil
            case .refuse(let error):
                throw error
            case .waitForStop:
                guard await stopWaiters.wait(until: deadline) != nil else {
                    throw .agentTimeout(after: timeout, saidHello: false)
                }
            case .lead(let actions):
                let ticket = startWaiters.ticket()
                perform(actions)
                return try await outcome(ticket, until: .distantFuture, timeout: timeout)
            case .join:
                // The start that it joins ends after its own time.
                let end = outlastsDialogs ? .distantFuture : deadline
                return try await outcome(startWaiters.ticket(), until: end, timeout: timeout)
            }
        }
    }

    /// Keeps an agent running although no caller waits for it. Does nothing unless idle.
    ///
    /// - Parameters:
    ///   - grace: How long to wait for an agent that may already run before one is started.
    ///   - former: The agent process that a previous relay started.
    func supervise(
        _ source: SourceRequest,
        ttl: Int? = nil,
        grace: TimeAmount = .zero,
        former: ProcessIdentity? = nil
    ) {
        guard !draining, machine.state == .idle else { return }
        let adopted = former.flatMap(AdoptedProcess.init)
        if let adopted {
            process = .adopted(adopted)
            processIdentity = former
        }
        perform(
            machine.superviseRequested(
                source: source,
                ttl: ttl,
                grace: grace,
                pid: adopted.map { Int($0.pid) },
                now: .now()
            )
        )
    }

    private func outcome(
        _ ticket: Waiters<Result<StartTimings, BroadcastError>>.Ticket,
        until deadline: NIODeadline,
        timeout: TimeAmount
    ) async throws(BroadcastError) -> StartTimings {
        guard let result = await startWaiters.wait(ticket, until: deadline) else {
            let agent = machine.agent
            throw .agentTimeout(after: timeout, saidHello: agent != nil, detail: agent?.status?.detail)
        }
        return try result.get()
    }

    /// Stops the agent and returns when it is gone. Does nothing when idle.
    func stop(reason: String) async {
        let ticket = stopWaiters.ticket()
        perform(machine.stopRequested(reason: reason, now: .now()))
        _ = await stopWaiters.wait(ticket, until: .distantFuture)
    }

    /// Stops the agent and prevents further starts.
    func drain() async {
        draining = true
        await stop(reason: "the relay is shutting down")
    }

    /// Whether its source delivers.
    var isStreaming: Bool { machine.agent?.status?.state == .streaming }

    func send(_ packet: Packet) { link?.send(packet) }

    // MARK: The link

    func objection() -> Reject? {
        if draining || !machine.acceptsAgent {
            return Reject(code: .draining, reason: "the broadcast is being stopped: connect again later")
        }
        return nil
    }

    /// Takes over a newly admitted link.
    ///
    /// - Parameter link: It replaces the former link, if there is one.
    func connected(_ link: AgentLink, hello: Hello) {
        self.link?.displace()
        self.link = link
        linksAdmitted += 1
        logger.info("agent linked", metadata: ["pid": "\(hello.pid)", "source": "\(hello.source)"])
        perform(machine.agentConnected(hello, now: .now()))
    }

    func received(_ status: SourceStatus) {
        let known = machine.agent?.status
        if known?.state != status.state || known?.cause != status.cause {
            let detail = status.detail.map { ": \($0)" } ?? ""
            linkLog.log(.info, to: logger, "source \(status.state.rawValue)\(detail)")
        }
        perform(machine.sourceReported(status, now: .now()))
    }

    func received(_ failure: SessionFailure, of session: Session) {
        linkLog.log(.error, to: logger, "session \(session.id) failed in the agent: \(failure.reason)")
        session.source.failed(role, because: failure.reason)
    }

    func receivedMalformedUnit(of session: Session) {
        malformedUnits += 1
        linkLog.log(
            .error,
            to: logger,
            "an access unit of session \(session.id) does not begin with a NAL unit, or has more than \(AnnexB.maximumUnits): discarded"
        )
    }

    func received(_ heartbeat: Heartbeat, tally: (SessionID) -> RestTally?) {
        heartbeats.add(heartbeat, now: .now(), tally: tally)
    }

    func received(_ reports: EncoderReports) { encoders = reports.encoders }

    func received(_ capabilities: InputCapabilities) { inputs = capabilities }

    /// The state of its source; `nil` until it reports it.
    var sourceState: SourceStatus.State? { machine.agent?.status?.state }

    /// Returns whether the agent's encoder of that session hangs.
    ///
    /// It hangs if its source streams and it has a frame, but a picture that was due or requested has long been
    /// missing. A session that the agent reports as failed does not count.
    private func hangs(in session: Session) -> Bool {
        guard session.source.failure(of: role) == nil, let since = session.source.overdueSince(of: role),
            NIODeadline.now() - since >= configuration.hangTime,
            let figures = heartbeats.figures(of: session.id)
        else { return false }
        return figures.counters.received > 0
    }

    /// Ends the agent if its encoder hangs in one of the device's sessions, and checks an adopted process. Called
    /// periodically.
    func tick(_ sessions: [Session]) {
        endIfHung(sessions)
        guard case .adopted(let adopted) = process else { return }
        adopted.tick(now: .now())
        if adopted.hasEnded { processEnded(AgentExit(cause: .unknown("a former relay started it"))) }
    }

    private func endIfHung(_ sessions: [Session]) {
        guard let session = sessions.first(where: hangs(in:)) else { return }
        let actions = machine.agentHung()
        guard !actions.isEmpty else { return }
        logger.error("the agent gives no pictures of session \(session.id), and is ended")
        perform(actions)
    }

    /// Returns why sessions lose this agent; `nil` if it was told to leave.
    func cause(of loss: LinkLoss) -> FeedSwitch.Cause? { machine.state == .stopping ? nil : loss.cause }

    func lost(because loss: LinkLoss) {
        let cause = cause(of: loss)
        if let cause { losses[cause, default: 0] += 1 }
        link = nil
        heartbeats = HeartbeatHistory()
        encoders = nil
        inputs = nil
        logger.log(level: cause == nil ? .info : .warning, "agent link lost: \(loss)")
        perform(machine.linkLost(now: .now()))
    }

    // MARK: Performing

    private func perform(_ actions: [AgentLifecycle.Action]) {
        for action in actions { perform(action) }
        timer?.cancel()
        timer = machine.wake.map { wake in
            MediaLoop.schedule(at: wake) { [weak self] in
                guard let self else { return }
                perform(machine.timerFired(now: .now()))
            }
        }
        changed()
    }

    private func perform(_ action: AgentLifecycle.Action) {
        switch action {
        case .spawn(let source): spawn(source)
        case .terminateProcess: terminateProcess()
        case .sendStop(let reason): link?.send(.stop(Stop(reason: reason)))
        case .closeLink: link?.close()
        case .abandonLink: link?.abandon()
        case .startSucceeded(let timings): startWaiters.resume(with: .success(timings))
        case .startFailed(let error): startWaiters.resume(with: .failure(error))
        case .stopped: stopWaiters.resume(with: ())
        }
    }

    private func spawn(_ source: SourceRequest) {
        let command = AgentCommand(
            device: device,
            role: role,
            link: agentLink(),
            source: source,
            configuration: configuration
        )
        logger.info("starting an agent", metadata: ["arguments": "\(command.arguments.joined(separator: " "))"])
        process = .started(
            Task {
                let exit = await AgentProcess.run(command, logger: logger) { [weak self] pid, identity in
                    self?.processStarted(pid: pid, identity)
                }
                processEnded(exit)
            }
        )
    }

    private func processStarted(pid: Int, _ identity: ProcessIdentity?) {
        processIdentity = identity
        machine.processStarted(pid: pid, now: .now())
        changed()
    }

    private func terminateProcess() {
        switch process {
        case .started(let task): task.cancel()
        case .adopted(let adopted): adopted.terminate(now: .now())
        case nil: break
        }
    }

    private func processEnded(_ exit: AgentExit) {
        logger.info("agent gone: \(exit)")
        process = nil
        processIdentity = nil
        perform(machine.processExited(exit, now: .now()))
    }
}

extension LinkLoss {
    fileprivate var cause: FeedSwitch.Cause {
        switch self {
        case .closed: .linkClosed
        case .silent: .linkSilent
        case .protocolError, .stalled: .linkFailed
        case .displaced: .displaced
        case .hung: .noPictures
        }
    }
}
