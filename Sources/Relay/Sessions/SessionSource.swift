import Media
import NIOCore
import Wire

/// The source of a session's units: the agent that feeds it, or the relay itself while the session rests.
///
/// It publishes units to the session's stream, and tells the agents what the stream needs.
@MediaLoop
final class SessionSource {
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
    /// Limits how often agents may hand over repeats. They do so after each movement has settled, which takes half a
    /// second.
    private var rests = TokenBucket(capacity: 20, perSecond: 5)
    /// Why each agent cannot serve the session; cleared when it can.
    private var failures = EachRole<String?>(nil)
    /// Whether the device was told that the session wants its sound.
    private var wantedSound: Set<SoundCodec> = []
    /// The agent that feeds the session, or fed it last.
    private var lastFeed: AgentRole?
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

    /// Called when a different agent may know best what the screen shows.
    var watchingChanged: @MediaLoop (AgentRole?) -> Void = { _ in }

    /// The agent that best knows what the screen shows.
    var watching: AgentRole? { feed.feedSwitch.watching }

    /// The agent whose pictures viewers get.
    var current: AgentRole? { feed.feedSwitch.current }

    /// Whether pictures flow: an agent that is still linked has sent a keyframe.
    var flows: Bool { feed.flows }

    /// Whether there is an agent that may feed the session.
    var isLinked: Bool { feed.feedSwitch.isLinked }

    /// Whether an agent should encode the session.
    var isDemanded: Bool { feed.feedSwitch.isDemanded }

    /// When viewers began to see a picture that no longer shows the screen; `nil` if they see a current one or none
    /// yet.
    var staleSince: NIODeadline? { feed.feedSwitch.staleSince }

    /// The changes of agents so far.
    var switches: FeedSwitch.Record { feed.feedSwitch.record }

    /// Access units dropped because no keyframe preceded them or another agent was the feed.
    var discarded: UInt64 { feed.discarded }

    /// Returns since when the agent of a role owes a picture while its source streams; `nil` if it owes none.
    func overdueSince(of role: AgentRole) -> NIODeadline? { feed.feedSwitch.overdueSince(of: role) }

    /// Returns what the relay has made in place of the agent of a role.
    func restTally(of role: AgentRole) -> RestTally { resting.tally(of: role) }

    /// Returns why the agent of a role cannot serve the session; `nil` if it can.
    func failure(of role: AgentRole) -> String? { failures[role] }

    /// Why the agent that feeds the session cannot serve it; `nil` if it can. While none feeds it, any agent's failure.
    var failure: String? {
        if let current { return failures[current] }
        return failures[.primary] ?? failures[.standby]
    }

    // MARK: The agents' side

    /// Tells a newly linked agent about the session, which it may have to encode at once.
    func agentLinked(_ role: AgentRole, _ state: SourceStatus.State?, parameters: SessionParameters) {
        send(.sessionAdd(id, parameters), to: role)
        perform(feed.feedSwitch.linked(role, source: state, now: .now()))
    }

    func sourceReported(_ role: AgentRole, _ state: SourceStatus.State) {
        let orders = feed.feedSwitch.sourceReported(role, state, now: .now())
        if role == current, state != .streaming { stream.sourceLost() }
        perform(orders)
    }

    /// Records that the session's picture waits while the agent encodes other sessions.
    func awaitsTurn(of role: AgentRole) { feed.feedSwitch.awaitsTurn(role, now: .now()) }

    /// Accepts an access unit. After a malformed one the session waits for a keyframe, and requests it.
    ///
    /// - Returns: Whether the access unit passes the relay's checks of its form.
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

    /// Accepts a unit of the device's sound and converts its times to the session's.
    func acceptSound(_ unit: EncodedUnit<ByteBuffer>, from role: AgentRole) {
        let now = NIODeadline.now()
        guard let sound = stream.tracks.first(where: { $0.id == unit.header.track })?.soundCodec,
            stream.demand.audio.contains(sound), let unit = feed.timedSound(unit, now: now)
        else { return }
        let relayed = now.uptimeNanoseconds
        stream.publish(MediaUnit(unit, codec: codec, sound: sound, from: role, relayed: relayed), now: now)
    }

    /// Records that the agent of a role cannot serve the session, until one of its pictures shows that it can.
    func failed(_ role: AgentRole, because reason: String) { failures[role] = reason }

    /// Records that an agent's link is lost.
    ///
    /// - Parameter cause: `nil` if the agent was told to stop.
    func agentLost(_ role: AgentRole, because cause: FeedSwitch.Cause?) {
        resting.end(for: role)
        perform(feed.feedSwitch.linkLost(role, because: cause, now: .now()))
    }

    /// Takes over the agent's repeats.
    ///
    /// - Returns: Whether the agent stays within the limit on handovers. If not, it gets them back at once.
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

    /// Gives the agent its repeats back.
    ///
    /// - Returns: Whether it had handed them over.
    func wake(_ role: AgentRole) -> Bool { resting.end(for: role) }

    // MARK: The stream's side

    /// Makes repeats in the agent's place only for sinks that want them. Called when a sink joins, and periodically.
    func follow() {
        let demand = stream.demand
        resting.follow(isWatched: demand.video == .all)
        tellSoundDemand(demand.audio)
    }

    /// Whether an agent captures the device's sound and sends it.
    var isSoundCaptured: Bool { orders?.isSoundCaptured == true }

    private func tellSoundDemand(_ codecs: Set<SoundCodec>) {
        guard codecs != wantedSound else { return }
        wantedSound = codecs
        orders?.wantsSound(codecs, for: id)
    }

    /// Records whether pictures are wanted.
    func demand(_ isThere: Bool) {
        guard isThere != isDemanded else { return }
        perform(feed.feedSwitch.demand(isThere, now: .now()))
    }

    /// Asks the agent for a keyframe.
    ///
    /// - Returns: The id that the keyframe will carry.
    func requestKeyframe() throws(SessionError) -> UInt32 {
        guard let request = feed.feedSwitch.requestKeyframe(now: .now()) else { throw .noSource }
        perform(request.orders)
        return request.id
    }

    /// Gets a keyframe for a sink: from the relay while the session rests, else from the agent.
    func sinkWantsKeyframe() {
        if resting.requestKeyframe() { return }
        perform(feed.feedSwitch.requestKeyframe(now: .now())?.orders ?? [])
    }

    /// Requests a keyframe if a sink can continue with nothing else. An agent's first picture is always a keyframe.
    func refreshStarving() {
        if flows, stream.starves { sinkWantsKeyframe() }
    }

    /// Asks the agent that feeds the session for a snapshot.
    ///
    /// - Returns: The agent's role; `nil` if no agent feeds the session.
    func requestSnapshot(_ request: SnapshotRequest) -> AgentRole? {
        guard let role = watching else { return nil }
        send(.snapshotRequest(id, request), to: role)
        return role
    }

    /// Sends a change of the session's settings to its agents.
    func update(_ update: SessionUpdate, fps: Int) {
        feed.feedSwitch.policy.fps = fps
        // Pictures made at the former rate are counted at that rate.
        resting.end()
        for role in AgentRole.allCases { send(.sessionUpdate(id, update), to: role) }
    }

    /// Does what is due. Called periodically.
    func tick() {
        follow()
        refreshStarving()
        if flows, stream.isKeyframeDue(now: .now()) { sinkWantsKeyframe() }
        requestMissingKeyframe()
    }

    /// Ends the session's rest, and its use of sound.
    func end() {
        resting.end()
        tellSoundDemand([])
    }

    // MARK: Performing

    /// Publishes a unit to the stream.
    ///
    /// - Parameter endsRest: Whether an agent sent the unit, which it does only while it makes its own repeats.
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

    /// Requests the keyframe that the session waits for, if any.
    private func requestMissingKeyframe() {
        let request = feed.awaitsKeyframe ? feed.feedSwitch.requestKeyframe(now: .now()) : nil
        perform(request?.orders ?? feed.feedSwitch.timePassed(now: .now()))
    }

    /// Sends the feed switch's orders to the agents, and its changes to the stream. Call it before the next event.
    private func perform(_ orders: [FeedSwitch.Order]) {
        if let current, current != lastFeed {
            if let lastFeed { self.orders?.feedLeft(lastFeed) }
            lastFeed = current
        }
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
        stream.feedChanged(to: feed.feedSwitch.source)
        watchingChanged(watching)
    }

    func send(_ packet: Packet, to role: AgentRole) { orders?.send(packet, to: role) }
}

/// The relay's channel back to the agents of one device.
@MediaLoop
protocol AgentOrders: AnyObject {
    /// Sends a packet to the agent of a role, if one is linked.
    func send(_ packet: Packet, to role: AgentRole)
    /// Called when another agent has begun to feed a session.
    func feedLeft(_ role: AgentRole)
    /// Records whether a session wants the device's sound.
    func wantsSound(_ codecs: Set<SoundCodec>, for session: SessionID)
    /// Whether an agent captures the device's sound and sends it.
    var isSoundCaptured: Bool { get }
}
