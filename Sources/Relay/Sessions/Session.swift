import FoundationEssentials
import Logging
import Media
import NIOCore
import Wire

/// One encoded stream: hands the agent's pictures to its viewers.
@MediaLoop
final class Session {
    let id: SessionID
    /// Its limits may change.
    var device: DeviceConfiguration {
        didSet {
            stills.maximumWaiting = device.maximumViewers
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
    /// Why the agents cannot serve it, until they can.
    private var failures = EachRole<String?>(nil)

    let viewerLimits: ViewerQueue.Limits
    /// Sends to the agent of a role, if one is linked.
    private let send: @MediaLoop (Packet, AgentRole) -> Void

    private(set) var feed: SessionFeed
    private let company: SessionRest.Company
    private lazy var resting = SessionRest(id, company: company) { [unowned self] rested, role in
        send(.rested(id, rested), role)
    } put: { [unowned self] accessUnit, role in
        if let accepted = feed.accept(accessUnit, from: role, now: .now()) {
            perform(accepted.orders)
            deliver(accepted.picture, from: role)
        }
    } counted: { [unowned self] pictures in
        feed.count(pictures, now: .now())
    }
    /// How often its agents may hand their repeats over: each time something has moved and settled again, which takes half a second.
    private var rests = TokenBucket(capacity: 20, perSecond: 5)
    /// Asks the agent whose pictures viewers see.
    private(set) lazy var stills = SessionStills(maximumWaiting: device.maximumViewers) { [unowned self] in
        wakesForStills()
    } ask: { [unowned self] request in
        guard let role = feed.feeds.current else { return nil }
        send(.stillRequest(id, request), role)
        return role
    }
    /// Who waits until its screen changes or stands still.
    let screenWaits: ScreenWaits
    private(set) var captureLatency: CaptureLatency
    let handoverLatency = HandoverLatency()
    let presentationLatency = PresentationLatency()
    private var containers: ContainerStreams
    private var idle: IdleLimit
    /// Snapshots under way that are use of it.
    var snapshotsInUse = 0
    private var demand: Demand
    let audience: Audience
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
        send: @escaping @MediaLoop (Packet, AgentRole) -> Void
    ) {
        let now = NIODeadline.now()
        self.id = id
        self.device = device
        self.request = request
        self.send = send
        epoch = kept?.epoch ?? now.uptimeNanoseconds
        created = kept?.created ?? Date()
        captureLatency = CaptureLatency(since: now.uptimeNanoseconds)
        self.viewerLimits = viewerLimits
        self.company = company
        self.logger = logger
        audience = Audience(timeout: viewerTimeout)
        screenWaits = ScreenWaits(maximum: device.maximumViewers)
        demand = Demand(onDemand: request.onDemand)
        feed = SessionFeed(
            codec: request.codec,
            packetized: request.framing == .scrcpy,
            epoch: epoch,
            feeds: FeedSwitch.Policy(repeats: request.repeat, fps: request.fps)
        )
        containers = ContainerStreams(codec: request.codec, fps: request.fps)
        idle = IdleLimit(limit: request.ttl.map { .seconds(Int64($0)) }, now: now)
        // No agent is linked yet, so there is none to tell.
        _ = feed.demand(demand.isThere(now: now), now: now)
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
            stillKeyframeInterval: Int((request.stillKeyframeInterval * 1000).rounded()),
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
        containers.fps = request.fps
        demand.onDemand = request.onDemand
        lookForDemand()
        guard let update = request.update(from: former) else { return }
        if update.size != nil { feed.sizeChanges() }
        feed.feeds.policy.fps = request.fps
        // What was made at the former rate is counted at it.
        resting.end()
        for role in AgentRole.allCases { send(.sessionUpdate(id, update), role) }
    }

    // MARK: The agents' side

    /// An agent is linked and is told of the session, which it may be to encode at once.
    ///
    /// - Parameter source: Its source's state as far as it is known.
    func agentLinked(_ role: AgentRole, source: SourceStatus.State?) {
        send(.sessionAdd(id, parameters), role)
        perform(feed.feeds.linked(role, source: source, now: .now()))
    }

    func sourceReported(_ role: AgentRole, _ state: SourceStatus.State) {
        let orders = feed.feeds.sourceReported(role, state, now: .now())
        if role == feed.feeds.current, state != .streaming { screenWaits.sourceLost() }
        perform(orders)
    }

    /// An agent says that the session's picture waits while it encodes those of other sessions.
    func awaitsTurn(of role: AgentRole) { feed.feeds.awaitsTurn(role, now: .now()) }

    /// Takes an access unit in. After one that is malformed the session waits for a keyframe, which is asked for.
    ///
    /// - Returns: Whether it is well formed as far as the relay looks.
    func accept(_ accessUnit: AccessUnit, from role: AgentRole) -> Bool {
        let now = NIODeadline.now()
        guard AnnexB.beginsWithUnit(accessUnit.bytes, codec: request.codec),
            !AnnexB.hasTooManyUnits(accessUnit.bytes)
        else {
            resting.end(for: role)
            feed.unitLost(from: role)
            requestMissingKeyframe()
            return false
        }
        if failures[role] != nil { failures[role] = nil }
        guard let accepted = feed.accept(accessUnit, from: role, now: now) else { return true }
        perform(accepted.orders)
        resting.end()
        deliver(accepted.picture, from: role)
        captureLatency.take(accessUnit, now: now)
        return true
    }

    /// Asks for the keyframe that the session waits for, if it does.
    private func requestMissingKeyframe() {
        let request = feed.awaitsKeyframe ? feed.feeds.requestKeyframe(now: .now()) : nil
        perform(request?.orders ?? feed.feeds.timePassed(now: .now()))
    }

    /// The agent of a role cannot serve it, until a picture of its own says that it can.
    func failed(_ role: AgentRole, because reason: String) { failures[role] = reason }

    /// Why the agent of a role cannot serve it; nil when it can.
    func failure(of role: AgentRole) -> String? { failures[role] }

    /// Why the agent that feeds it cannot serve it, or while none feeds it any agent; nil when it can.
    var failure: String? {
        if let current = feed.feeds.current { return failures[current] }
        return failures[.broadcast] ?? failures[.standby]
    }

    private func deliver(_ picture: Picture, from role: AgentRole) {
        containers.package(picture)
        // Viewers come first: nothing else delays their pictures.
        for viewer in audience.viewers { viewer.offer(picture) }
        screenWaits.take(picture, from: role, isLive: feed.feeds.source != .none)
        stills.fed()
    }

    /// - Parameter cause: nil when the agent had been told to stop.
    func agentLost(_ role: AgentRole, because cause: FeedSwitch.Cause?) {
        resting.end(for: role)
        perform(feed.lost(role, because: cause, now: .now()))
        stills.agentLost(role)
    }

    /// Asks the agent for a keyframe and returns the id that it will carry.
    func requestKeyframe() throws(SessionError) -> UInt32 {
        guard let request = feed.feeds.requestKeyframe(now: .now()) else { throw .noSource }
        perform(request.orders)
        return request.id
    }

    /// A viewer wants a keyframe: the one that the relay holds while the session rests, else one of the agent's.
    func viewerWantsKeyframe() {
        if resting.requestKeyframe() { return }
        _ = try? requestKeyframe()
    }

    /// Tells the agents what an event of the feed switch asks for. Call it before anything that may cause another event.
    private func perform(_ orders: [FeedSwitch.Order]) {
        for order in orders {
            switch order {
            case .requestKeyframe(let role, let request): send(.keyframeRequest(id, request: request), role)
            case .activate(let role):
                resting.forgetTally(of: role)
                send(.sessionUpdate(id, SessionUpdate(isActive: true)), role)
            case .deactivate(let role):
                resting.end(for: role)
                send(.sessionUpdate(id, SessionUpdate(isActive: false)), role)
            }
        }
        if feed.feeds.source == .none { screenWaits.interrupted() }
    }

    /// The agent hands its repeats over.
    ///
    /// - Returns: Whether it may as often as this. Else it has them back at once.
    func rest(_ rest: Rest, from role: AgentRole) -> Bool {
        let now = NIODeadline.now()
        let isAllowed = rests.take(now: now)
        let session = isAllowed ? restingSession(rest, from: role, now: now) : nil
        resting.begin(session, for: role)
        resting.follow(isWatched: isWatched)
        refreshStarving()
        return isAllowed
    }

    private func restingSession(_ rest: Rest, from role: AgentRole, now: NIODeadline) -> RestingSession? {
        feed.keyframe(pts: rest.keyframe, from: role).flatMap {
            RestingSession(rest, keyframe: $0, codec: request.codec, epoch: epoch, now: now.uptimeNanoseconds)
        }
    }

    /// The agent asks for its repeats.
    ///
    /// - Returns: Whether it had handed them over.
    func wake(_ role: AgentRole) -> Bool { resting.end(for: role) }

    /// What the relay has made in place of the agent of a role.
    func restTally(of role: AgentRole) -> RestTally { resting.tally(of: role) }

    // MARK: Viewers

    /// Whether it takes nobody new any more, for the relay is to end when its viewers have gone.
    var isDraining = false

    var viewerCount: Int { audience.viewers.count }

    /// Whether somebody gets its pictures, or waits for what they tell.
    var isWatched: Bool { viewerCount > 0 || !screenWaits.isEmpty || stills.isWanted }

    /// Whether that keeps it from its ttl; a snapshot that is a mere glance does not.
    private var isInUse: Bool { viewerCount > 0 || !screenWaits.isEmpty || snapshotsInUse > 0 }

    /// Whether it takes another viewer.
    var hasRoom: Bool { !ended && refusal == nil }

    /// Why it takes no more viewers; nil when it does.
    var refusal: SessionError? {
        if isDraining { return .lastViewers }
        return viewerCount < device.maximumViewers ? nil : .tooManyViewers(limit: device.maximumViewers)
    }

    var delivered: DeliveryCounters { audience.delivered }

    /// Lets a viewer in, from the cached pictures or at the next keyframe.
    ///
    /// - Parameter join: Nil for the session's way.
    /// - Returns: Whether there was room for it.
    func admit(_ viewer: any Viewer, join: Join? = nil) -> Bool {
        guard hasRoom else { return false }
        audience.add(viewer)
        touch()
        lookForDemand()
        resting.follow(isWatched: true)
        let cached = feed.join(now: .now())
        if let container = viewer.container { containers.begin(container, with: cached) }
        if join ?? request.join == .cache { for picture in cached { viewer.offer(picture) } }
        refreshStarving()
        return true
    }

    /// A new viewer, nil when there is no room for it.
    func makeHTTPViewer(on channel: any Channel, container: Container?, join: Join?) -> HTTPViewer? {
        let viewer = HTTPViewer(
            channel: channel,
            container: container,
            limits: viewerLimits,
            stopwatch: .init(handoverLatency)
        )
        return admit(viewer, join: join) ? viewer : nil
    }

    func remove(_ viewer: any Viewer) {
        if audience.remove(viewer) { departed() }
    }

    /// Closes a viewer's connection, if it is one still.
    func close(_ viewer: any Viewer, because reason: ViewerClosure) {
        guard audience.close(viewer, because: reason) else { return }
        closureLog.log(.info, to: logger, "session \(id) closed a viewer: \(reason.rawValue)")
        departed()
    }

    private func departed() {
        containers.end(allBut: Set(audience.viewers.compactMap(\.container)))
        touch()
    }

    /// Starts or ends the encoder by whether anybody wants pictures.
    private func lookForDemand() {
        let now = NIODeadline.now()
        if isWatched { demand.watched(now: now) }
        let isThere = demand.isThere(now: now)
        guard isThere != feed.feeds.isDemanded else { return }
        perform(feed.demand(isThere, now: now))
    }

    /// Wakes the session for a still where it sleeps.
    ///
    /// - Returns: Whether an agent is to feed it and does not yet.
    private func wakesForStills() -> Bool {
        guard request.onDemand, feed.feeds.isLinked else { return false }
        lookForDemand()
        return !feed.flows
    }

    /// Asks for a keyframe when a viewer can go on with nothing else. The first picture of an agent is one anyway.
    func refreshStarving() {
        guard feed.flows, audience.viewers.contains(where: \.starves) else { return }
        if resting.requestKeyframe() { return }
        perform(feed.feeds.requestKeyframe(now: .now())?.orders ?? [])
    }

    // MARK: Life

    /// Someone asked about it.
    func touch() { idle.used(now: .now()) }

    /// Whether it has been idle for its ttl. Called now and then; also repeats an unanswered keyframe request, and looks for pictures
    /// that do not come, and for viewers that are behind.
    func tick() -> Bool {
        for (viewer, reason) in audience.late(now: .now()) { close(viewer, because: reason) }
        resting.follow(isWatched: isWatched)
        lookForDemand()
        refreshStarving()
        requestMissingKeyframe()
        guard !isInUse else {
            touch()
            return false
        }
        return idle.isOver(now: .now())
    }

    /// Ends all viewers' streams.
    func end() {
        ended = true
        resting.end()
        stills.end()
        screenWaits.end()
        for viewer in audience.viewers {
            viewer.finish()
            remove(viewer)
        }
    }
}
