import HeliographAPI
import Media
package import NIOCore
import Program
import Wire

/// One device's broadcast: the agent that captures its screen, and the standby that feeds its sessions when that agent
/// cannot.
@MediaLoop
final class Broadcast {
    /// How long a start may take, unless its caller says so.
    private static let startTimeout = TimeAmount.seconds(15)
    /// How long a start may take before the standby is started as well.
    private static let standbyDelay = TimeAmount.seconds(1)

    private(set) var device: DeviceConfiguration
    let agent: AgentSupervisor
    let standby: AgentSupervisor
    /// The orders of callers that act on its screen.
    let inputs: InputOrders
    /// The orders of callers that use its clipboard.
    let clipboard: ClipboardOrders
    /// The caller that may act on its screen.
    let control: DeviceControl
    /// Its gamepad.
    let gamepads: GamepadOrders
    /// Its sound.
    let sound: DeviceSound
    /// Its microphone.
    let microphone: Microphone
    /// The applications that callers have launched on its desktop.
    let applications: Applications
    /// Called after each change of ``state`` and of other properties.
    var changed: @MediaLoop () -> Void = {}
    /// Until when agents that a previous relay started are expected.
    private var adoptionEnd: NIODeadline?
    /// The standby process that a previous relay started, until it is decided whether a standby is needed.
    private var formerStandby: ProcessIdentity?
    private var delay: Scheduled<Void>?
    private var draining = false
    /// What the standby captures although the broadcast is stopped; `nil` for nothing.
    private var lastingFallback: SourceRequest?
    /// The stop that ends applications.
    private var stopping: Task<Void, Never>?
    /// When the broadcast last had a session, or was started.
    private var lastUse = NIODeadline.now()

    /// Creates an idle broadcast.
    ///
    /// - Parameter supervisor: Makes the supervisor of the device's agent of a role.
    init(device: DeviceConfiguration, events: EventHub, supervisor: (AgentRole) -> AgentSupervisor) {
        self.device = device
        let (agent, standby) = (supervisor(.primary), supervisor(.standby))
        (self.agent, self.standby) = (agent, standby)
        inputs = InputOrders { packet, role in (role == .primary ? agent : standby).send(packet) }
        control = DeviceControl(of: device.name, orders: inputs, events: events)
        clipboard = ClipboardOrders { packet, role in (role == .primary ? agent : standby).send(packet) }
        gamepads = GamepadOrders { packet, role in (role == .primary ? agent : standby).send(packet) }
        sound = DeviceSound { packet, role in (role == .primary ? agent : standby).send(packet) }
        // The primary's, because programs must not find two.
        microphone = Microphone(of: device.name, events: events) { agent.send($0) }
        applications = Applications(device: device.name) { packet, role in
            let agent = role == .primary ? agent : standby
            guard agent.link != nil else { return false }
            agent.send(packet)
            return true
        }
        agent.changed = { [weak self] in
            self?.keepStandby()
            self?.changed()
        }
        standby.changed = { [weak self] in
            self?.keepStandby()
            self?.changed()
        }
    }

    /// Whether callers can speak now.
    var hasMicrophone: Bool { device.hasMicrophone && agent.link != nil && agent.inputs?.microphone == true }

    func agent(_ role: AgentRole) -> AgentSupervisor { role == .primary ? agent : standby }

    /// Starts the broadcast, or waits for a pending start.
    ///
    /// - Parameters:
    ///   - timeout: How long it may take; `nil` for as usual, plus the time in which a person answers a dialog.
    ///   - ttl: How long it may be without a session before it ends, in s; `nil` for no limit.
    /// - Returns: The start's timings; `nil` if it was already live.
    func start(
        source: SourceRequest?,
        timeout: TimeAmount? = nil,
        ttl: Int?
    ) async throws(BroadcastError) -> StartTimings? {
        lastUse = .now()
        // The stop that ends the applications would end this start too.
        guard !applications.isEnding else { throw draining ? .draining : .stopped }
        lastingFallback = nil
        return try await agent.start(
            source: source,
            timeout: timeout ?? Self.startTimeout,
            outlastsDialogs: timeout == nil,
            ttl: ttl
        )
    }

    /// Keeps the broadcast of the device's own source running although no caller waits for it. Does nothing unless
    /// idle.
    func keepRunning() { agent.supervise(device.source) }

    /// Returns whether it has had no session for its ttl. Called periodically.
    func isIdle(hasSessions: Bool) -> Bool {
        // Otherwise each call would find a broadcast that is being stopped.
        guard applications.isOpen else { return false }
        let isUsed = hasSessions || ![.live, .away].contains(machine.state)
        if isUsed { lastUse = .now() }
        // One that starts with the relay lasts as long.
        guard !device.isAutostarted else { return false }
        return machine.ttl.map { .now() - lastUse >= .seconds(Int64($0)) } ?? false
    }

    /// Changes the settings for agents that start from now on.
    func change(to device: DeviceConfiguration, _ configuration: RelayConfiguration) {
        self.device = device
        for role in AgentRole.allCases { agent(role).change(to: device, configuration) }
        keepStandby()
    }

    /// Continues what a previous relay did. Agents that still run are expected for `grace`; after that, new ones are
    /// started.
    func resume(_ kept: RelayState.Broadcast, grace: TimeAmount) {
        adoptionEnd = .now() + grace
        lastUse = .now()
        formerStandby = kept.standby
        agent.supervise(kept.source, ttl: kept.ttl, grace: grace, former: kept.agent)
    }

    /// The state kept for the next run of the relay; `nil` if the relay does not keep the broadcast running.
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

    /// Ends the launched applications, stops the broadcast, and returns when its agents are gone. Joins a stop that
    /// still ends applications.
    ///
    /// - Parameter keepsStandby: Whether the standby stays, or starts, and feeds the sessions until the next start or
    ///   stop.
    func stop(reason: String, keepsStandby: Bool = false) async {
        if let stopping { return await stopping.value }
        let source = agent.machine.state == .idle ? device.source : runningSource ?? device.source
        lastingFallback = keepsStandby ? device.fallback(for: source) : nil
        let task = Task {
            await applications.endAll {
                // A start may follow from now on, so a later stop must not join this one.
                stopping = nil
                async let agentStopped: Void = agent.stop(reason: reason)
                if lastingFallback == nil { await standby.stop(reason: reason) }
                await agentStopped
            }
            keepStandby()
        }
        stopping = task
        await task.value
    }

    /// Does the same, and prevents further starts.
    func drain() async {
        draining = true
        await applications.endAll {
            async let standbyDrained: Void = standby.drain()
            await agent.drain()
            await standbyDrained
        }
    }

    // MARK: The standby

    /// The standby's source; `nil` if the device has no standby, or needs none now.
    var fallback: SourceRequest? {
        guard !draining else { return nil }
        let isNeeded: Bool
        switch agent.machine.state {
        case .idle, .stopping: return lastingFallback
        case .starting: isNeeded = NIODeadline.now() - agent.machine.since >= Self.standbyDelay
        case .live, .away: isNeeded = true
        }
        guard let source = runningSource else { return nil }
        return isNeeded && !(device.fallback == nil && takesScreenshots) ? device.fallback(for: source) : nil
    }

    /// Whether the broadcast's agent has said that its own pictures are screenshots.
    private var takesScreenshots: Bool {
        agent.machine.agent?.status?.kind.map(Self.screenshotKinds.contains) ?? false
    }

    /// What agents call sources that take screenshots.
    private static let screenshotKinds: Set = ["screenshot", "wlr-screencopy", "x11", "command"]

    /// The broadcast's source. For an agent that was started by hand, only its kind is known.
    private var runningSource: SourceRequest? {
        if agent.machine.isSupervised { return agent.machine.source }
        return SourceKind(rawValue: agent.machine.runningSource).map { SourceRequest(kind: $0) }
    }

    /// Starts the standby after the broadcast has started, and ends it with the broadcast. A standby started by hand
    /// stays.
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
            // A slow start, such as one that asks a person, shows the standby meanwhile. A quick one has the machine to
            // itself.
            let due = agent.machine.since + Self.standbyDelay
            if due > .now() { delay = MediaLoop.schedule(at: due) { [weak self] in self?.keepStandby() } }
        } else if standby.machine.isSupervised, standby.machine.state != .stopping {
            Task { await standby.stop(reason: "the broadcast has ended") }
        }
    }
}

extension Broadcast: AgentOrders {
    func send(_ packet: Packet, to role: AgentRole) { agent(role).send(packet) }

    /// Has the agent release what callers hold: the one that takes over begins with nothing held.
    func feedLeft(_ role: AgentRole) { inputs.withdraw(from: role, because: .feedSwitched) }

    func wantsSound(_ codecs: Set<SoundCodec>, for session: SessionID) { sound.wants(codecs, for: session) }

    var isSoundCaptured: Bool { sound.problem == nil && sound.current.map(sound.capturing.contains) == true }
}

/// Reports the state of the capturing agent as the broadcast's.
extension Broadcast {
    var machine: AgentLifecycle { agent.machine }
    var link: AgentLink? { agent.link }
    var heartbeats: HeartbeatHistory { agent.heartbeats }
    var encoders: [EncoderReport]? { agent.encoders }
}

/// Why a broadcast did not start.
package enum BroadcastError: Error, Sendable, Equatable {
    /// No agent streamed in time. `detail` is the agent's last report on its source.
    case agentTimeout(after: TimeAmount, saidHello: Bool, detail: String? = nil)
    case agentExited(AgentExit)
    /// The agent runs but cannot capture.
    case sourceUnavailable(cause: String?, detail: String?)
    /// The broadcast runs with another source.
    case running(source: String)
    /// The broadcast was stopped during its start.
    case stopped
    /// The relay is shutting down.
    case draining
}
