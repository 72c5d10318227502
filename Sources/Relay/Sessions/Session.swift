import FoundationEssentials
import Media
import NIOCore
import Wire

/// One encoded stream: hands the agent's pictures to its viewers.
@MediaLoop
final class Session {
    let id: SessionID
    let device: DeviceConfiguration
    /// What it is to be by now.
    private(set) var request: SessionRequest
    /// The monotonic instant of PTS 0, ns.
    let epoch: UInt64
    let created: Date

    /// The TCP port; 0 until it listens.
    var port = 0
    /// Why the agent cannot serve it, until it can.
    var failure: String?

    let viewerLimits: ViewerQueue.Limits
    /// Sends to the agent of a role, if one is linked.
    private let send: @MediaLoop (Packet, AgentRole) -> Void

    private(set) var feed: SessionFeed
    private(set) var captureLatency: CaptureLatency
    private var containers: ContainerStreams
    private var idle: IdleLimit
    private var viewers: [ObjectIdentifier: any Viewer] = [:]
    private var departed = DeliveryCounters()
    private(set) var viewersAdmitted: UInt64 = 0
    private var ended = false

    /// - Parameter kept: What it was before the relay ended, if it was.
    init(
        id: SessionID,
        device: DeviceConfiguration,
        request: SessionRequest,
        kept: RelayState.Session? = nil,
        viewerLimits: ViewerQueue.Limits,
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
        feed = SessionFeed(
            codec: request.codec,
            packetized: request.framing == .scrcpy,
            feeds: FeedSwitch.Policy(repeats: request.repeat, fps: request.fps)
        )
        containers = ContainerStreams(codec: request.codec, fps: request.fps)
        idle = IdleLimit(limit: request.ttl.map { .seconds(Int64($0)) }, now: now)
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
        guard let update = request.update(from: former) else { return }
        if update.size != nil { feed.sizeChanges() }
        feed.feeds.policy.fps = request.fps
        for role in AgentRole.allCases { send(.sessionUpdate(id, update), role) }
    }

    // MARK: The agents' side

    /// An agent is linked and is told of the session, which it may be to encode at once.
    ///
    /// - Parameter source: Its source's state as far as it is known.
    func agentLinked(_ role: AgentRole, source: SourceStatus.State?) {
        send(.sessionAdd(id, parameters), role)
        feed.feeds.linked(role, now: .now())
        if let source { feed.feeds.sourceReported(role, source, now: .now()) }
        giveOrders()
    }

    func sourceReported(_ role: AgentRole, _ state: SourceStatus.State) {
        feed.feeds.sourceReported(role, state, now: .now())
        giveOrders()
    }

    func accept(_ accessUnit: AccessUnit, from role: AgentRole) {
        let now = NIODeadline.now()
        guard let picture = feed.accept(accessUnit, from: role, now: now) else { return }
        captureLatency.take(accessUnit, now: now.uptimeNanoseconds)
        failure = nil
        containers.package(picture)
        for viewer in viewers.values { viewer.offer(picture) }
        giveOrders()
    }

    /// - Parameter cause: nil when the agent had been told to stop.
    func agentLost(_ role: AgentRole, because cause: FeedSwitch.Cause?) {
        feed.lost(role, because: cause, now: .now())
        giveOrders()
    }

    /// Asks the agent for a keyframe and returns the id that it will carry.
    func requestKeyframe() throws(SessionError) -> UInt32 {
        guard let id = feed.feeds.requestKeyframe(now: .now()) else { throw .noSource }
        giveOrders()
        return id
    }

    private func giveOrders() {
        for order in feed.feeds.orders(now: .now()) {
            switch order {
            case .requestKeyframe(let role, let request): send(.keyframeRequest(id, request: request), role)
            case .activate(let role): send(.sessionUpdate(id, SessionUpdate(isActive: true)), role)
            case .deactivate(let role): send(.sessionUpdate(id, SessionUpdate(isActive: false)), role)
            }
        }
    }

    // MARK: Viewers

    var viewerCount: Int { viewers.count }

    /// Whether it takes another viewer.
    var hasRoom: Bool { !ended && viewers.count < device.maximumViewers }

    var delivered: DeliveryCounters {
        viewers.values.reduce(into: departed) { $0 += $1.queue.counters }
    }

    /// Lets a viewer in, from the cached pictures or at the next keyframe.
    ///
    /// - Returns: Whether there was room for it.
    func admit(_ viewer: any Viewer) -> Bool {
        guard hasRoom else { return false }
        viewers[ObjectIdentifier(viewer)] = viewer
        viewersAdmitted += 1
        touch()
        let pictures = feed.join(now: .now())
        if let container = viewer.container { containers.begin(container, with: pictures) }
        for picture in pictures { viewer.offer(picture) }
        refreshStarving()
        return true
    }

    /// A new viewer, nil when there is no room for it.
    func makeHTTPViewer(on channel: any Channel, container: Container?) -> HTTPViewer? {
        let viewer = HTTPViewer(channel: channel, container: container, limits: viewerLimits)
        return admit(viewer) ? viewer : nil
    }

    func remove(_ viewer: any Viewer) {
        guard let viewer = viewers.removeValue(forKey: ObjectIdentifier(viewer)) else { return }
        departed += viewer.queue.counters
        containers.end(allBut: Set(viewers.values.compactMap(\.container)))
        touch()
    }

    /// Asks for a keyframe when a viewer can go on with nothing else. The first picture of an agent is one anyway.
    func refreshStarving() {
        guard feed.flows, viewers.values.contains(where: \.starves) else { return }
        _ = feed.feeds.requestKeyframe(now: .now())
        giveOrders()
    }

    // MARK: Life

    /// Someone asked about it.
    func touch() { idle.used(now: .now()) }

    /// Whether it has been idle for its ttl. Called now and then; also repeats an unanswered keyframe request, and looks for pictures
    /// that do not come.
    func tick() -> Bool {
        refreshStarving()
        giveOrders()
        guard viewers.isEmpty else {
            touch()
            return false
        }
        return idle.isOver(now: .now())
    }

    /// Ends all viewers' streams.
    func end() {
        ended = true
        for viewer in viewers.values {
            viewer.finish()
            remove(viewer)
        }
    }
}
