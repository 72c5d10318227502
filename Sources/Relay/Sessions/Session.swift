import FoundationEssentials
package import HeliographAPI
import Logging
import Media
import NIOCore
package import Wire

/// One encoded stream of a device: what makes its units, the stream, the sinks that every session has, and its life.
@MediaLoop
package final class Session {
    let id: SessionID
    /// Its limits may change.
    var device: DeviceConfiguration {
        didSet {
            snapshots.maximumWaiting = device.maximumViewers
            screenWaits.maximum = device.maximumViewers
        }
    }
    /// What it is to be by now.
    private(set) var request: SessionRequest
    /// The monotonic instant of PTS 0, ns.
    let epoch: UInt64
    let created: Date

    /// The TCP port; 0 until it listens.
    var port = 0

    let source: SessionSource
    package let stream: SessionStream

    // Sinks.
    let audience: Audience
    /// Who waits until its screen changes or is static.
    let screenWaits: ScreenWaits
    private(set) lazy var snapshots = SessionSnapshots(maximumWaiting: device.maximumViewers) { [unowned self] in
        wakesForSnapshots()
    } ask: { [unowned self] request in
        source.requestSnapshot(request)
    }

    let viewerLimits: ViewerQueue.Limits
    let handoverLatency = HandoverLatency()
    let presentationLatency = PresentationLatency()
    private var idle: IdleLimit
    private var encoding: EncodingDemand
    private let logger: Logger
    private var closureLog = LogBudget()
    private var ended = false

    /// - Parameter kept: What it was before the relay ended, if it was.
    init(
        id: SessionID,
        device: DeviceConfiguration,
        request: SessionRequest,
        kept: RelayState.Session? = nil,
        viewerLimits: ViewerQueue.Limits,
        viewerTimeout: TimeAmount?,
        company: SessionRest.Company,
        logger: Logger,
        orders: any AgentOrders
    ) {
        let now = NIODeadline.now()
        self.id = id
        self.device = device
        self.request = request
        epoch = kept?.epoch ?? now.uptimeNanoseconds
        created = kept?.created ?? Date()
        self.viewerLimits = viewerLimits
        self.logger = logger
        stream = SessionStream(codec: request.codec)
        source = SessionSource(
            id: id,
            epoch: epoch,
            policy: FeedSwitch.Policy(repeats: request.repeat, fps: request.fps),
            stream: stream,
            company: company,
            orders: orders
        )
        audience = Audience(of: stream, fps: request.fps, timeout: viewerTimeout)
        screenWaits = ScreenWaits(maximum: device.maximumViewers)
        encoding = EncodingDemand(onDemand: request.onDemand)
        idle = IdleLimit(limit: request.ttl.map { .seconds(Int64($0)) }, now: now)
        stream.attach(snapshots)
        stream.attach(screenWaits)
        // No agent is linked yet, so there is none to tell.
        source.demand(encoding.isThere(now: now))
    }

    /// What an agent is told when it gets to know the session.
    private var parameters: SessionParameters {
        SessionParameters(
            codec: request.codec,
            encoder: request.encoder,
            size: request.size,
            fps: request.fps,
            bitrate: request.bitrate,
            repeat: request.repeat,
            keyframeInterval: Int((request.keyframeInterval * 1000).rounded()),
            staticKeyframeInterval: Int((request.staticKeyframeInterval * 1000).rounded()),
            epoch: epoch,
            isActive: false
        )
    }

    /// What is kept of it for the relay's next life.
    var state: RelayState.Session {
        .init(id: id, device: device.name, request: request, port: port, epoch: epoch, created: created)
    }

    /// Takes the change over, and tells the agents that are linked; the next one is told with the session.
    func change(_ change: SessionChange) {
        let former = request
        request = change.applied(to: former)
        audience.fps = request.fps
        encoding.onDemand = request.onDemand
        lookForDemand()
        guard let update = request.update(from: former) else { return }
        if update.size != nil { stream.sizeChanges() }
        source.update(update, fps: request.fps)
    }

    // MARK: The agents' side

    /// An agent is linked and is told of the session, which it may be to encode at once.
    func agentLinked(_ role: AgentRole, _ report: SessionSource.Report) {
        source.agentLinked(role, report, parameters: parameters)
    }

    /// - Parameter cause: nil when the agent had been told to stop.
    func agentLost(_ role: AgentRole, because cause: FeedSwitch.Cause?) {
        source.agentLost(role, because: cause)
        snapshots.agentLost(role)
    }

    // MARK: Viewers

    /// Whether it takes nobody new any more, for the relay is to end when its viewers have gone.
    var isDraining = false

    var viewerCount: Int { audience.count }

    /// Whether a sink wants its pictures.
    var isWatched: Bool { stream.demand.video != .none }

    /// Whether it takes another viewer.
    var hasRoom: Bool { !ended && refusal == nil }

    /// Why it takes no more viewers; nil when it does.
    var refusal: SessionError? {
        if isDraining { return .lastViewers }
        return viewerCount < device.maximumViewers ? nil : .tooManyViewers(limit: device.maximumViewers)
    }

    /// Lets a viewer of a rendition in, from the cached group or at the next keyframe.
    ///
    /// - Parameter join: Nil for the session's way.
    /// - Returns: Whether there was room for it.
    func admit(_ viewer: any RenditionViewer, join: Join? = nil) -> Bool {
        guard hasRoom else { return false }
        audience.add(viewer, join: join ?? request.join)
        arrived()
        return true
    }

    /// Lets a viewer in that is a sink of its own.
    ///
    /// - Returns: Whether there was room for it.
    func admit(_ viewer: any Viewer & Sink) -> Bool {
        guard hasRoom else { return false }
        audience.add(viewer)
        arrived()
        return true
    }

    private func arrived() {
        touch()
        lookForDemand()
        source.follow()
        source.refreshStarving()
    }

    func remove(_ viewer: any Viewer) {
        if audience.remove(viewer) { touch() }
    }

    /// Closes a viewer's connection, if it watches still.
    func close(_ viewer: any Viewer, because reason: ViewerClosure) {
        guard audience.close(viewer, because: reason) else { return }
        closureLog.log(.info, to: logger, "session \(id) closed a viewer: \(reason.rawValue)")
        touch()
    }

    /// Starts or ends the encoder by whether a sink wants pictures.
    private func lookForDemand() {
        let now = NIODeadline.now()
        if isWatched { encoding.watched(now: now) }
        source.demand(encoding.isThere(now: now))
    }

    /// Wakes the session for a snapshot if it sleeps.
    ///
    /// - Returns: Whether an agent is to feed it and does not yet.
    private func wakesForSnapshots() -> Bool {
        guard request.onDemand, source.isLinked else { return false }
        lookForDemand()
        return !source.flows
    }

    // MARK: Life

    /// Someone asked about it.
    func touch() { idle.used(now: .now()) }

    /// Whether it has been idle for its ttl. Called now and then; also looks for what is due, and for viewers that are behind.
    func tick() -> Bool {
        for (viewer, reason) in audience.late(now: .now()) { close(viewer, because: reason) }
        lookForDemand()
        source.tick()
        guard !stream.isInUse else {
            touch()
            return false
        }
        return idle.isOver(now: .now())
    }

    /// Ends the stream for all sinks.
    func end() {
        ended = true
        source.end()
        audience.end()
        stream.end()
    }
}

extension SessionRequest {
    /// What an agent that encodes for `former` is told, so that it encodes for this; nil for nothing.
    package func update(from former: SessionRequest) -> SessionUpdate? {
        let update = SessionUpdate(
            bitrate: bitrate == former.bitrate ? nil : bitrate,
            fps: fps == former.fps ? nil : fps,
            size: size == former.size ? nil : size
        )
        return update == SessionUpdate() ? nil : update
    }
}
