import HeliographAPI
package import NIOCore
import Wire

/// One device's broadcast: the agent that captures its screen, and the standby that feeds its sessions while that one cannot.
@MediaLoop
final class Broadcast {
    /// How long a start may take before the standby is started beside it.
    private static let standbyDelay = TimeAmount.seconds(1)

    private(set) var device: DeviceConfiguration
    let agent: AgentSupervisor
    let standby: AgentSupervisor
    /// Called after every change of ``state``, and others.
    var changed: @MediaLoop () -> Void = {}
    /// Until when agents of the relay's former life are expected.
    private var adoptionEnd: NIODeadline?
    /// The standby's process in the relay's former life, until it is known whether there is to be a standby.
    private var formerStandby: ProcessIdentity?
    private var delay: Scheduled<Void>?
    private var draining = false
    /// When it last had a session, or was started.
    private var lastUse = NIODeadline.now()

    /// - Parameter supervisor: Makes the supervisor of the device's agent of a role.
    init(device: DeviceConfiguration, supervisor: (AgentRole) -> AgentSupervisor) {
        self.device = device
        agent = supervisor(.primary)
        standby = supervisor(.standby)
        agent.changed = { [weak self] in
            self?.keepStandby()
            self?.changed()
        }
        standby.changed = { [weak self] in
            self?.keepStandby()
            self?.changed()
        }
    }

    func agent(_ role: AgentRole) -> AgentSupervisor { role == .primary ? agent : standby }

    /// Starts it, or waits for the start that is under way.
    ///
    /// - Parameter ttl: After how long without a session it may end, s; nil for never.
    /// - Returns: The start's timings; nil when it was live already.
    func start(source: SourceRequest?, timeout: TimeAmount, ttl: Int?) async throws(BroadcastError) -> StartTimings? {
        lastUse = .now()
        return try await agent.start(source: source, timeout: timeout, ttl: ttl)
    }

    /// Whether it has had no session for its ttl. Called now and then.
    func isIdle(hasSessions: Bool) -> Bool {
        let isUsed = hasSessions || ![.live, .away].contains(machine.state)
        if isUsed { lastUse = .now() }
        return machine.ttl.map { .now() - lastUse >= .seconds(Int64($0)) } ?? false
    }

    /// What counts for agents that are started from now on.
    func change(to device: DeviceConfiguration, _ configuration: RelayConfiguration) {
        self.device = device
        for role in AgentRole.allCases { agent(role).change(to: device, configuration) }
        keepStandby()
    }

    /// Goes on with what the relay did before it ended. Agents that run still are expected for `grace`, then others are started.
    func resume(_ kept: RelayState.Broadcast, grace: TimeAmount) {
        adoptionEnd = .now() + grace
        lastUse = .now()
        formerStandby = kept.standby
        agent.supervise(kept.source, ttl: kept.ttl, grace: grace, former: kept.agent)
    }

    /// What is kept of it for the relay's next life; nil when the relay does not keep it running.
    var state: RelayState.Broadcast? {
        guard machine.isSupervised else { return nil }
        return .init(
            device: device.name,
            source: machine.source,
            ttl: machine.ttl,
            agent: agent.processIdentity,
            standby: standby.processIdentity
        )
    }

    /// Stops it and returns when its agents are gone.
    func stop(reason: String) async {
        async let standbyStopped: Void = standby.stop(reason: reason)
        await agent.stop(reason: reason)
        await standbyStopped
    }

    /// Stops it for good.
    func drain() async {
        draining = true
        async let standbyDrained: Void = standby.drain()
        await agent.drain()
        await standbyDrained
    }

    // MARK: The standby

    /// What the standby captures; nil where the device has none, or needs none now.
    var fallback: SourceRequest? {
        guard !draining, let source = runningSource else { return nil }
        let isNeeded =
            switch agent.machine.state {
            case .idle, .stopping: false
            case .starting: NIODeadline.now() - agent.machine.since >= Self.standbyDelay
            case .live, .away: true
            }
        return isNeeded ? device.fallback(for: source) : nil
    }

    /// What the broadcast captures; of an agent that was started by hand no more than its kind is known.
    private var runningSource: SourceRequest? {
        if agent.machine.isSupervised { return agent.machine.source }
        return SourceKind(rawValue: agent.machine.runningSource).map { SourceRequest(kind: $0) }
    }

    /// Starts the standby when the broadcast has started, and ends it with the broadcast. One that was started by hand stays.
    private func keepStandby() {
        delay?.cancel()
        delay = nil
        if let fallback {
            let grace = adoptionEnd.map { max(.zero, $0 - .now()) } ?? .zero
            if standby.machine.state == .idle {
                let former = formerStandby
                formerStandby = nil
                standby.supervise(fallback, grace: grace, former: former)
            }
        } else if agent.machine.state == .starting {
            // A start that takes its time, such as one that asks a person, shows something else meanwhile; one that does not has the
            // machine to itself.
            let due = agent.machine.since + Self.standbyDelay
            if due > .now() { delay = MediaLoop.schedule(at: due) { [weak self] in self?.keepStandby() } }
        } else if standby.machine.isSupervised, standby.machine.state != .stopping {
            Task { await standby.stop(reason: "the broadcast has ended") }
        }
    }
}

extension Broadcast: AgentOrders {
    func send(_ packet: Packet, to role: AgentRole) { agent(role).send(packet) }
}

/// The broadcast is what its capturing agent is.
extension Broadcast {
    var machine: AgentLifecycle { agent.machine }
    var link: AgentLink? { agent.link }
    var heartbeats: HeartbeatHistory { agent.heartbeats }
    var encoders: [EncoderReport]? { agent.encoders }
}

/// Why a broadcast did not start.
package enum BroadcastError: Error, Sendable, Equatable {
    /// No agent was streaming in time; `detail` is what the agent said last of its source.
    case agentTimeout(after: TimeAmount, saidHello: Bool, detail: String? = nil)
    case agentExited(AgentExit)
    /// The agent runs and cannot capture.
    case sourceUnavailable(cause: String?, detail: String?)
    /// It runs with another source.
    case running(source: String)
    /// It was stopped while it started.
    case stopped
    /// The relay is shutting down.
    case draining
}
