import Media
import NIOCore
import Wire

/// What makes a session's units: the agent that feeds it, and the relay itself while the session rests. It publishes them to the session's
/// stream, and tells the agents what the stream needs.
@MediaLoop
final class SessionSource {
    /// An agent's report about its source and its audio tracks.
    struct Report {
        /// The state of its screen's source, if known.
        var state: SourceStatus.State?
        /// The tracks of its device beside the session's pictures.
        var sound: [MediaTrack] = []
    }

    private let id: SessionID
    private let codec: Codec
    /// The monotonic instant of PTS 0, ns.
    private let epoch: UInt64
    private let stream: SessionStream
    private weak var orders: (any AgentOrders)?

    private var feed: SessionFeed
    private lazy var resting = SessionRest(id, company: company) { [unowned self] rested, role in
        orders?.send(.rested(id, rested), to: role)
    } put: { [unowned self] accessUnit, role in
        _ = publish(EncodedUnit(copying: accessUnit), from: role, now: .now())
    } counted: { [unowned self] pictures in
        stream.count(pictures)
        feed.feedSwitch.repeated(now: .now())
    }
    private let company: SessionRest.Company
    /// How often its agents may hand their repeats over: each time something has moved and settled again, which takes half a second.
    private var rests = TokenBucket(capacity: 20, perSecond: 5)
    /// Why the agents cannot serve it, until they can.
    private var failures = EachRole<String?>(nil)
    private var tracks = EachRole<[MediaTrack]>([])
    private(set) var captureLatency: CaptureLatency

    init(
        id: SessionID,
        epoch: UInt64,
        policy: FeedSwitch.Policy,
        stream: SessionStream,
        company: SessionRest.Company,
        orders: any AgentOrders
    ) {
        self.id = id
        self.epoch = epoch
        self.stream = stream
        self.company = company
        self.orders = orders
        codec = stream.codec
        feed = SessionFeed(codec: codec, epoch: epoch, policy: policy)
        captureLatency = CaptureLatency(since: NIODeadline.now().uptimeNanoseconds)
    }

    // MARK: How it stands

    /// The agent whose pictures viewers get.
    var current: AgentRole? { feed.feedSwitch.current }

    /// Whether pictures flow: a keyframe has come from an agent that is linked still.
    var flows: Bool { feed.flows }

    /// Whether there is an agent that may feed the session.
    var isLinked: Bool { feed.feedSwitch.isLinked }

    /// Whether an agent is to encode the session.
    var isDemanded: Bool { feed.feedSwitch.isDemanded }

    /// Since when viewers see a picture that no longer shows the screen; `nil` if they do not, or have seen none yet.
    var staleSince: NIODeadline? { feed.feedSwitch.staleSince }

    /// The changes of agents so far.
    var switches: FeedSwitch.Record { feed.feedSwitch.record }

    /// Access units dropped because no keyframe preceded them or another agent was the feed.
    var discarded: UInt64 { feed.discarded }

    /// Since when the agent of a role owes a picture while its source streams; `nil` if it owes none.
    func overdueSince(of role: AgentRole) -> NIODeadline? { feed.feedSwitch.overdueSince(of: role) }

    /// What the relay has made in place of the agent of a role.
    func restTally(of role: AgentRole) -> RestTally { resting.tally(of: role) }

    /// Why the agent of a role cannot serve the session; nil when it can.
    func failure(of role: AgentRole) -> String? { failures[role] }

    /// Why the agent that feeds it cannot serve it, or while none feeds it any agent; nil when it can.
    var failure: String? {
        if let current { return failures[current] }
        return failures[.primary] ?? failures[.standby]
    }

    // MARK: The agents' side

    /// An agent is linked and is told of the session, which it may be to encode at once.
    func agentLinked(_ role: AgentRole, _ report: Report, parameters: SessionParameters) {
        send(.sessionAdd(id, parameters), to: role)
        tracks[role] = report.sound
        perform(feed.feedSwitch.linked(role, source: report.state, now: .now()))
    }

    func sourceReported(_ role: AgentRole, _ state: SourceStatus.State) {
        let orders = feed.feedSwitch.sourceReported(role, state, now: .now())
        if role == current, state != .streaming { stream.sourceLost() }
        perform(orders)
    }

    func soundReported(_ role: AgentRole, _ sound: [MediaTrack]) {
        tracks[role] = sound
        if role == current { stream.soundChanged(to: sound) }
    }

    /// An agent says that the session's picture waits while it encodes those of other sessions.
    func awaitsTurn(of role: AgentRole) { feed.feedSwitch.awaitsTurn(role, now: .now()) }

    /// Takes an access unit in. After one that is malformed the session waits for a keyframe, which is asked for.
    ///
    /// - Returns: Whether it is well formed as far as the relay looks.
    func accept(_ accessUnit: EncodedUnit<ByteBuffer>, from role: AgentRole) -> Bool {
        let now = NIODeadline.now()
        guard AnnexB.beginsWithUnit(accessUnit.bytes, codec: codec), !AnnexB.hasTooManyUnits(accessUnit.bytes) else {
            resting.end(for: role)
            feed.unitLost(from: role)
            requestMissingKeyframe()
            return false
        }
        if failures[role] != nil { failures[role] = nil }
        if publish(accessUnit, from: role, now: now, endsRest: true) {
            captureLatency.take(accessUnit.header, now: now)
        }
        return true
    }

    /// Takes a unit of the device's sound in: its times become the session's.
    func acceptSound(_ unit: EncodedUnit<ByteBuffer>, from role: AgentRole) {
        let now = NIODeadline.now()
        guard role == current, stream.tracks.contains(where: { $0.id == unit.header.track }), stream.demand.audio,
            let unit = feed.timedSound(unit, now: now)
        else { return }
        stream.publish(MediaUnit(unit, codec: codec, from: role, relayed: now.uptimeNanoseconds), now: now)
    }

    /// The agent of a role cannot serve it, until a picture of its own says that it can.
    func failed(_ role: AgentRole, because reason: String) { failures[role] = reason }

    /// - Parameter cause: nil when the agent had been told to stop.
    func agentLost(_ role: AgentRole, because cause: FeedSwitch.Cause?) {
        resting.end(for: role)
        perform(feed.feedSwitch.linkLost(role, because: cause, now: .now()))
    }

    /// The agent hands its repeats over.
    ///
    /// - Returns: Whether it may as often as this. Else it has them back at once.
    func rest(_ rest: Rest, from role: AgentRole) -> Bool {
        let now = NIODeadline.now()
        let isAllowed = rests.take(now: now)
        let session =
            !isAllowed
            ? nil
            : feed.keyframe(pts: rest.keyframe, from: role).flatMap {
                RestingSession(rest, keyframe: $0, codec: codec, epoch: epoch, now: now.uptimeNanoseconds)
            }
        resting.begin(session, for: role)
        follow()
        refreshStarving()
        return isAllowed
    }

    /// The agent asks for its repeats.
    ///
    /// - Returns: Whether it had handed them over.
    func wake(_ role: AgentRole) -> Bool { resting.end(for: role) }

    // MARK: The stream's side

    /// Makes repeats in the agent's place only for sinks that want them. Called when one comes, and now and then.
    func follow() { resting.follow(isWatched: stream.demand.video == .all) }

    /// Pictures are wanted, or no longer.
    func demand(_ isThere: Bool) {
        guard isThere != isDemanded else { return }
        perform(feed.feedSwitch.demand(isThere, now: .now()))
    }

    /// Asks the agent for a keyframe and returns the id that it will carry.
    func requestKeyframe() throws(SessionError) -> UInt32 {
        guard let request = feed.feedSwitch.requestKeyframe(now: .now()) else { throw .noSource }
        perform(request.orders)
        return request.id
    }

    /// A sink wants a keyframe: the one that the relay holds while the session rests, else one of the agent's.
    func sinkWantsKeyframe() {
        if resting.requestKeyframe() { return }
        perform(feed.feedSwitch.requestKeyframe(now: .now())?.orders ?? [])
    }

    /// Asks for a keyframe if a sink can go on with nothing else. The first picture of an agent is one anyway.
    func refreshStarving() {
        if flows, stream.starves { sinkWantsKeyframe() }
    }

    /// Asks the agent that feeds the session for a snapshot.
    ///
    /// - Returns: Which agent that is; `nil` if there is none.
    func requestSnapshot(_ request: SnapshotRequest) -> AgentRole? {
        guard let current else { return nil }
        send(.snapshotRequest(id, request), to: current)
        return current
    }

    /// The session is to be another.
    func update(_ update: SessionUpdate, fps: Int) {
        feed.feedSwitch.policy.fps = fps
        // What was made at the former rate is counted at it.
        resting.end()
        for role in AgentRole.allCases { send(.sessionUpdate(id, update), to: role) }
    }

    /// Looks for what is due. Called now and then.
    func tick() {
        follow()
        refreshStarving()
        if flows, stream.isKeyframeDue(now: .now()) { sinkWantsKeyframe() }
        requestMissingKeyframe()
    }

    /// The session ends.
    func end() { resting.end() }

    // MARK: Performing

    /// - Parameter endsRest: Whether an agent sent the unit, which it does only with its repeats in its own hands.
    /// - Returns: Whether the stream got it.
    private func publish(
        _ unit: EncodedUnit<ByteBuffer>,
        from role: AgentRole,
        now: NIODeadline,
        endsRest: Bool = false
    ) -> Bool {
        guard let (unit, orders) = feed.accept(unit, from: role, now: now) else { return false }
        perform(orders)
        if endsRest { resting.end() }
        stream.publish(unit, now: now)
        return true
    }

    /// Asks for the keyframe that the session waits for, if it does.
    private func requestMissingKeyframe() {
        let request = feed.awaitsKeyframe ? feed.feedSwitch.requestKeyframe(now: .now()) : nil
        perform(request?.orders ?? feed.feedSwitch.timePassed(now: .now()))
    }

    /// Tells the agents what an event of the feed switch asks for, and the stream what it has changed. Call it before anything that may cause another event.
    private func perform(_ orders: [FeedSwitch.Order]) {
        for order in orders {
            switch order {
            case .requestKeyframe(let role, let request): send(.keyframeRequest(id, request: request), to: role)
            case .activate(let role):
                resting.forgetTally(of: role)
                send(.sessionUpdate(id, SessionUpdate(isActive: true)), to: role)
            case .deactivate(let role):
                resting.end(for: role)
                send(.sessionUpdate(id, SessionUpdate(isActive: false)), to: role)
            }
        }
        if !flows { stream.forgetGroup() }
        if let current { stream.soundChanged(to: tracks[current]) }
        stream.feedChanged(to: feed.feedSwitch.source)
    }

    private func send(_ packet: Packet, to role: AgentRole) { orders?.send(packet, to: role) }
}

/// What the relay tells the agents of one device: the way back.
@MediaLoop
protocol AgentOrders: AnyObject {
    /// Sends to the agent of a role, if one is linked.
    func send(_ packet: Packet, to role: AgentRole)
}
