import FoundationEssentials
import HeliographAPI
import Media
import NIOCore
import Wire

/// The figures of one of a device's agents at one moment.
///
/// They are read on the media loop, and reports are made from them elsewhere: for hundreds of sessions that takes
/// longer than pictures may wait.
struct AgentReading: Sendable {
    fileprivate let machine: AgentLifecycle
    fileprivate let heartbeats: HeartbeatHistory
    fileprivate let encoders: [EncoderReport]?
    fileprivate let inputs: InputCapabilities?
    fileprivate let linksAdmitted: Int
    /// The bytes received and the time of the last byte; `nil` without a link.
    fileprivate let received: (bytes: Int, last: NIODeadline)?

    @MediaLoop
    init(_ agent: AgentSupervisor) {
        machine = agent.machine
        heartbeats = agent.heartbeats
        encoders = agent.encoders
        inputs = agent.inputs
        linksAdmitted = agent.linksAdmitted
        received = agent.link.map { ($0.bytesReceived, $0.lastByte) }
    }
}

extension BroadcastReport {
    init(
        device: String,
        _ broadcast: AgentReading,
        standby: AgentReading,
        sessions: [SessionReport],
        tls: TLSServer?
    ) {
        self.init()
        let machine = broadcast.machine
        self.device = device
        state = machine.state.rawValue
        since = machine.since.wallClockText
        ttl = machine.ttl
        agent = AgentReport(machine)
        source = SourceReport(machine)
        input = broadcast.inputs.map(InputDevicesReport.init)
        encoders = broadcast.encoders?.map(TriedEncoder.init)
        heartbeat = HeartbeatReport(broadcast.heartbeats)
        link = LinkReport(broadcast)
        restarts = machine.restarts
        lastExit = machine.lastExit.map(ExitReport.init)
        self.standby = StandbyReport(standby)
        self.tls = CertificateReport(tls)
        self.sessions = sessions
    }
}

extension StandbyReport {
    /// Creates the report; `nil` if no standby runs.
    fileprivate init?(_ standby: AgentReading) {
        let machine = standby.machine
        guard machine.state != .idle else { return nil }
        self.init()
        state = machine.state.rawValue
        since = machine.since.wallClockText
        agent = AgentReport(machine)
        source = SourceReport(machine)
        heartbeat = HeartbeatReport(standby.heartbeats)
        link = LinkReport(standby)
        restarts = machine.restarts
        lastExit = machine.lastExit.map(ExitReport.init)
    }
}

extension StartedBroadcast {
    /// Creates the answer to a start.
    ///
    /// - Parameter timings: The start's timings; `nil` if it was already running.
    @MediaLoop
    init(_ broadcast: Broadcast, timings: StartTimings?) {
        self.init()
        let machine = broadcast.machine
        device = broadcast.device.name
        state = machine.state.rawValue
        agent = AgentReport(machine)
        source = SourceReport(machine)
        self.timings = timings.map(Timings.init)
        alreadyRunning = timings == nil
    }
}

extension StartedBroadcast.Timings {
    fileprivate init(_ timings: StartTimings) {
        func milliseconds(_ amount: TimeAmount?) -> Double? { amount?.milliseconds.rounded(places: 1) }
        self.init()
        spawnMs = milliseconds(timings.spawn)
        helloMs = milliseconds(timings.hello)
        sourceMs = milliseconds(timings.source)
        totalMs = milliseconds(timings.total)
        agent = timings.agent.mapValues { $0.rounded(places: 1) }
    }
}

extension BroadcastSummary {
    @MediaLoop
    init(_ broadcast: Broadcast, sessions: [Session]) {
        self.init()
        let machine = broadcast.machine
        device = broadcast.device.name
        state = machine.state.rawValue
        since = machine.since.wallClockText
        labels = broadcast.device.labels
        autostart = broadcast.device.isAutostarted
        source = SourceReport(machine)
        restarts = machine.restarts
        self.sessions = sessions.count
        viewers = sessions.reduce(0) { $0 + $1.audience.count }
    }
}

extension AgentReport {
    fileprivate init?(_ machine: AgentLifecycle) {
        guard let hello = machine.agent?.hello else { return nil }
        self.init()
        pid = hello.pid
        release = hello.release
        source = hello.source
        managed = machine.isManaged
    }
}

extension SourceReport {
    fileprivate init(_ machine: AgentLifecycle) {
        self.init()
        let status = machine.agent?.status
        kind = machine.agent.map { $0.status?.kind ?? $0.hello.source } ?? machine.source.kind.rawValue
        state = status?.state.rawValue
        cause = status?.cause
        detail = status?.detail
        (width, height) = (status?.size?.width, status?.size?.height)
        orientation = status?.orientation
    }
}

extension TriedEncoder {
    fileprivate init(_ report: EncoderReport) {
        self.init()
        name = report.name
        codec = report.codec.rawValue
        available = report.available
        reason = report.reason
    }
}

extension HeartbeatReport {
    /// Creates the report; `nil` before the first heartbeat.
    fileprivate init?(_ history: HeartbeatHistory) {
        guard let latest = history.latest, let received = history.received else { return nil }
        self.init()
        ageMs = (NIODeadline.now() - received).milliseconds.rounded(places: 0)
        framesReceived = latest.framesReceived
        buffersSkipped = latest.buffersSkipped
        framesCopied = latest.framesCopied
        linkQueuedBytes = latest.linkQueuedBytes
        rates.framesReceived = history.framesReceivedPerSecond?.rounded(places: 2)
        sessions = latest.sessions.map { Session($0, rates: history.rates(of: $0.session)) }
    }
}

extension HeartbeatReport.Session {
    fileprivate init(_ figures: SessionFigures, rates: SessionRates?) {
        self.init()
        id = figures.session
        encoder = figures.openEncoder
        encoderReason = figures.encoderReason
        encoderRestarts = figures.counters.encoderRestarts
        counters = AgentCounters(figures)
        self.rates = rates.map(RatesReport.init)
    }
}

extension LinkReport {
    fileprivate init(_ agent: AgentReading) {
        self.init()
        connected = agent.received != nil
        bytes = agent.received?.bytes
        lastByteMsAgo = agent.received.map { (NIODeadline.now() - $0.last).milliseconds.rounded(places: 1) }
        reconnects = max(0, agent.linksAdmitted - 1)
    }
}

extension ExitReport {
    fileprivate init(_ exit: AgentExit) {
        self.init()
        switch exit.cause {
        case .status(let value): exitStatus = value
        case .signal(let value): signal = value
        case .notStarted, .unknown: break
        }
        lastLine = exit.lastLine
        text = "\(exit)"
    }
}

extension NIODeadline {
    /// The instant on the wall clock, as ``Date/apiText``.
    var wallClockText: String { Date(timeIntervalSinceNow: (self - .now()).seconds).apiText }
}

extension MicrophoneReport {
    /// Creates the report; `nil` if the device has no microphone.
    @MediaLoop
    init?(_ broadcast: Broadcast) {
        guard broadcast.device.hasMicrophone else { return nil }
        self.init()
        available = broadcast.hasMicrophone
        speaker = broadcast.microphone.speaker?.description
        (delayMs, holes) = (
            broadcast.microphone.report?.delay, broadcast.microphone.report.map { UInt64(clamping: $0.holes) }
        )
    }
}

extension AudioReport {
    /// Creates the report; `nil` if the device's sound is off.
    @MediaLoop
    init?(_ broadcast: Broadcast) {
        guard broadcast.device.sound != .off else { return nil }
        let sound = broadcast.sound
        self.init()
        agent = sound.current?.rawValue
        problem = sound.problem
        codecs = sound.codecs.map(\.rawValue)
        aacProblem = sound.aacProblem
        capturing = sound.capturing.map(\.rawValue)
        (packets, bytes) = (sound.packets, sound.bytes)
        (switches, discarded) = (sound.switches, sound.discarded)
    }
}
