import FoundationEssentials
package import HeliographAPI
import Logging
import Media
import NIOCore
package import Wire

/// One encoded stream of a device: the source of its units, the stream, the sinks that every session has, and its
/// lifetime.
@MediaLoop
package final class Session {
    let id: SessionID
    /// The optional name that callers gave it; unique among its device's sessions.
    let name: String?
    /// The device; its limits may change.
    var device: DeviceConfiguration {
        didSet {
            stream.expectsSound = device.sound != .off
            snapshots.maximumWaiting = device.maximumViewers
            screenWaits.maximum = device.maximumViewers
            soundWaits.maximum = device.maximumViewers
            screenWatches.maximum = device.maximumViewers
        }
    }
    /// Records it; `nil` if nothing does.
    private(set) var recorder: Recorder?
    /// Why the library cannot be opened for its recording; `nil` if it can.
    var recordingProblem: String?
    /// The id of its recording, which goes on with the next run of the relay; `nil` if it is not recorded.
    var recording: String?
    /// The name of the key that asked for the recording; `nil` for none.
    var recordedBy: String?
    /// The current settings.
    private(set) var request: SessionRequest
    /// What the agents make of them, because viewers' connections do not carry more.
    private(set) var encoded: SessionRequest
    private var ratePolicy = RatePolicy()
    /// How many viewers the bitrate follows.
    private(set) var followedViewers = 0
    /// The size of the pictures if nothing is left out; `nil` if it is not known yet.
    private var wholeSize: PictureSize?
    /// Its layers.
    let layers = SessionLayers()
    /// The monotonic instant of PTS 0, ns.
    let epoch: UInt64
    let created: Date

    /// The TCP port; 0 until the session listens.
    var port = 0
    /// The TCP port of the device's sound; `nil` without.
    var soundPort: Int?

    let source: SessionSource
    package let stream: SessionStream

    // Sinks.
    let events: SessionEvents
    let audience: Audience
    /// The session as HLS, once for each sound that clients ask for.
    private var lives: [LiveHLS] = []
    /// The callers that wait until the screen changes or is static.
    let screenWaits: ScreenWaits
    private(set) lazy var soundWaits = SoundWaits(maximum: device.maximumViewers) { [unowned self] in
        pts(at: NIODeadline.now().uptimeNanoseconds)
    } isCaptured: { [source] in
        source.isSoundCaptured
    }
    /// The callers that wait until a part of the screen shows something.
    private(set) lazy var screenWatches = ScreenWatches(session: id, maximum: device.maximumViewers) { [unowned self] in
        source.send($0, to: $1)
    }
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

    /// - Parameters:
    ///   - kept: Its state from before a restart of the relay; `nil` for a new session.
    ///   - epoch: The monotonic instant of PTS 0 of a new one, ns; `nil` for now.
    init(
        id: SessionID,
        name: String?,
        device: DeviceConfiguration,
        request: SessionRequest,
        kept: RelayState.Session? = nil,
        epoch: UInt64? = nil,
        viewerLimits: ViewerQueue.Limits,
        viewerTimeout: TimeAmount?,
        company: SessionRest.Company,
        events: EventHub,
        logger: Logger,
        orders: any AgentOrders
    ) {
        let now = NIODeadline.now()
        self.id = id
        self.name = name
        self.device = device
        self.request = request
        encoded = request
        self.epoch = kept?.epoch ?? epoch ?? now.uptimeNanoseconds
        created = kept?.created ?? Date()
        recording = kept?.recording
        recordedBy = kept?.recordedBy
        self.viewerLimits = viewerLimits
        self.logger = logger
        stream = SessionStream(codec: request.codec)
        stream.expectsSound = device.sound != .off
        source = SessionSource(
            id: id,
            epoch: self.epoch,
            policy: FeedSwitch.Policy(repeats: request.repeat, fps: request.fps),
            stream: stream,
            company: company,
            orders: orders
        )
        audience = Audience(of: stream, fps: request.fps, timeout: viewerTimeout)
        screenWaits = ScreenWaits(maximum: device.maximumViewers)
        self.events = SessionEvents(events, device: device.name, session: id, name: name)
        encoding = EncodingDemand(onDemand: request.onDemand)
        idle = IdleLimit(limit: request.ttl.map { .seconds(Int64($0)) }, now: now)
        stream.attach(snapshots)
        stream.attach(self.events)
        stream.attach(screenWaits)
        stream.attach(soundWaits)
        stream.attach(screenWatches)
        source.watchingChanged = { [unowned self] in screenWatches.follow($0) }
        // No agent is linked yet, so no agent gets these orders.
        source.demand(encoding.isThere(now: now))
    }

    /// Whether its sound has a port of its own.
    var hasSoundPort: Bool { request.framing == .scrcpy && device.sound != .off }

    /// Returns a monotonic time, in ns, as a PTS.
    func pts(at time: UInt64) -> Int64 { (Int64(clamping: time) - Int64(clamping: epoch)) / 1000 }

    /// The parameters that an agent gets when it learns of the session.
    private var parameters: SessionParameters {
        SessionParameters(
            codec: encoded.codec,
            chroma: encoded.chroma,
            encoder: encoded.encoder,
            size: encoded.size,
            fps: encoded.fps,
            bitrate: encoded.bitrate,
            burst: encoded.burst,
            repeat: encoded.repeat,
            keyframeInterval: Int((encoded.keyframeInterval * 1000).rounded()),
            staticKeyframeInterval: Int((encoded.staticKeyframeInterval * 1000).rounded()),
            epoch: epoch,
            isActive: false
        )
    }

    /// The state kept for the next run of the relay.
    var kept: RelayState.Session {
        .init(
            id: id,
            device: device.name,
            name: name,
            request: request,
            port: port,
            soundPort: soundPort,
            epoch: epoch,
            created: created,
            recording: recording,
            recordedBy: recordedBy
        )
    }

    /// Applies the settings of `changed` and tells the linked agents. Agents that link later get them with the session.
    ///
    /// A port of 0 keeps the current one.
    func change(to changed: SessionRequest) throws(SessionError) {
        if let field = request.fixedField(changedIn: changed) { throw .notChangeable(field: field) }
        guard [0, request.port, port].contains(changed.port) else { throw .notChangeable(field: "port") }
        // Its guests would stay.
        if layers.whole != nil, request.adapt != changed.adapt { throw .notChangeable(field: "adapt") }
        let former = request
        request = changed
        request.port = former.port
        idle.limit = changed.ttl.map { .seconds(Int64($0)) }
        encoding.onDemand = request.onDemand
        lookForDemand()
        if request.size != former.size { wholeSize = nil }
        changeSmall(size: nil)
        guard request.adapt == .fixed else { return adapt() }
        takeBack()
        (ratePolicy, followedViewers) = (RatePolicy(), 0)
        for viewer in audience.viewers { viewer.beFixed() }
        encode(request)
    }

    /// Has the agents encode what the viewers' connections carry.
    private func adapt() {
        let now = NIODeadline.now()
        // `leastBitrate` is never more than `bitrate`.
        let limits = ClosedRange(uncheckedBounds: (Double(request.leastBitrate), Double(request.bitrate)))
        let bitrates = layerBitrates
        let votes = audience.viewers.compactMap { $0.followRate(within: limits, layers: bitrates, now: now) }
        followedViewers = votes.count(where: \.isPresent)
        if encoded.size == request.size { wholeSize = stream.size ?? wholeSize }
        changeSmall(size: wholeSize)
        encode(ratePolicy.settings(of: request, allowed: votes.allowed, in: wholeSize, now: now))
        moveViewers(hasFollowed: !votes.isEmpty, now: now)
    }

    /// Changes what the agents encode.
    private func encode(_ settings: SessionRequest) {
        let former = encoded
        encoded = settings
        guard let update = settings.update(from: former) else { return }
        audience.fps = settings.fps
        if update.size != nil { stream.sizeChanges() }
        source.update(update, fps: settings.fps)
    }

    // MARK: The agents' side

    /// Tells a newly linked agent about the session, which it may have to encode at once.
    ///
    /// - Parameter state: The state of its source, if known.
    func agentLinked(_ role: AgentRole, _ state: SourceStatus.State?) {
        source.agentLinked(role, state, parameters: parameters)
    }

    /// Records that an agent's link is lost.
    ///
    /// - Parameter cause: `nil` if the agent was told to stop.
    func agentLost(_ role: AgentRole, because cause: FeedSwitch.Cause?) {
        screenWatches.agentLost(role)
        source.agentLost(role, because: cause)
        snapshots.agentLost(role)
    }

    // MARK: Viewers

    /// Whether it refuses new viewers because the relay ends when the current viewers have left.
    var isDraining = false

    /// Its viewers, also those that watch its small layer.
    var viewerCount: Int { audience.count + (layers.small?.audience.guestCount ?? 0) }

    /// Whether a sink wants its pictures.
    var isWatched: Bool { stream.demand.video != .none }

    /// Whether it accepts another viewer.
    var hasRoom: Bool { !ended && refusal == nil }

    /// Why it accepts no more viewers; `nil` if it does.
    var refusal: SessionError? {
        if isDraining { return .lastViewers }
        return viewerCount < device.maximumViewers ? nil : .tooManyViewers(limit: device.maximumViewers)
    }

    /// Admits a viewer of a rendition, which begins with the cached group or at the next keyframe.
    ///
    /// - Parameter join: How the viewer begins; `nil` for the session's setting.
    /// - Returns: Whether there was room for it.
    func admit(_ viewer: any RenditionViewer, join: Join? = nil) -> Bool {
        guard hasRoom else { return false }
        audience.add(viewer, join: join ?? request.join)
        arrived()
        return true
    }

    /// Admits a viewer that is itself a sink.
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
        events.publish(.viewerJoined)
        followSinks()
    }

    /// Follows what the sinks want, after another one has come.
    func followSinks() {
        lookForDemand()
        source.follow()
        source.refreshStarving()
    }

    func remove(_ viewer: any Viewer) {
        guard removeFromLayers(viewer) else { return }
        touch()
        events.publish(.viewerLeft)
    }

    /// Closes a viewer's connection, if it still watches.
    func close(_ viewer: any Viewer, because reason: ViewerClosure) {
        // One that watches a small layer has joined the whole one.
        let joined = audience.isGuest(viewer) ? layers.whole ?? self : self
        guard audience.close(viewer, because: reason) else { return }
        closureLog.log(.info, to: logger, "session \(id) closed a viewer: \(reason.rawValue)")
        touch()
        joined.events.publish(.viewerLeft, state: reason.rawValue)
    }

    /// Whether it has not ended.
    var isRunning: Bool { !ended }

    /// Hands the stream to a recorder, which begins with the cached group or at the next keyframe.
    func begin(_ recorder: Recorder) {
        recorder.begin(with: stream)
        stream.attach(recorder)
        self.recorder = recorder
        followSinks()
    }

    /// Records no more.
    func endRecording() {
        if let recorder { stream.detach(recorder) }
        (recorder, recording) = (nil, nil)
    }

    /// Returns the session as HLS with the device's sound in a codec, or without; starts it if it is not there.
    func liveHLS(sound: SoundCodec?) -> LiveHLS {
        if let known = lives.first(where: { $0.sound == sound }) { return known }
        let tracks = stream.tracks.with(sound: sound)
        let live = LiveHLS(tracks: tracks, sound: sound, fps: request.fps, epoch: epoch) { [weak self] in
            self?.recorder?.since(with: tracks)
        }
        live.begin(with: stream.join(now: .now()))
        stream.attach(live)
        lives.append(live)
        touch()
        followSinks()
        return live
    }

    /// Returns a file of a run of HLS, when it is there; `nil` if it is gone, or does not come in time.
    func liveFile(_ file: LiveHLS.File, of run: String, until deadline: NIODeadline) async -> LiveHLS.Content? {
        await lives.first { $0.run == run }?.content(of: file, until: deadline)
    }

    /// Ends the runs of HLS for which no client has asked lately.
    private func endUnasked() {
        for live in lives where !live.isAsked {
            stream.detach(live)
            live.end()
        }
        lives.removeAll(where: \.hasEnded)
    }

    /// Has it encoded for a while although nobody watches it yet.
    func keepAwake() {
        encoding.watched(now: .now())
        touch()
        lookForDemand()
    }

    /// Starts or stops encoding, depending on whether a sink wants pictures.
    private func lookForDemand() {
        let now = NIODeadline.now()
        if isWatched { encoding.watched(now: now) }
        source.demand(encoding.isThere(now: now))
    }

    /// Wakes the session for a snapshot if it is asleep.
    ///
    /// - Returns: Whether an agent will feed it and does not yet, because it wakes or has just begun.
    private func wakesForSnapshots() -> Bool {
        guard source.isLinked else { return false }
        lookForDemand()
        return !source.flows
    }

    // MARK: Life

    /// Records that a caller used the session, which restarts its ttl.
    func touch() { idle.used(now: .now()) }

    /// Does what is due, and closes viewers that are too far behind. Called periodically.
    ///
    /// - Returns: Whether the session has been idle for its ttl.
    func tick() -> Bool {
        for (viewer, reason) in audience.late(now: .now()) { close(viewer, because: reason) }
        if request.adapt != .fixed { adapt() }
        endUnasked()
        lookForDemand()
        source.tick()
        recorder?.tick(self)
        guard !stream.isInUse, viewerCount == 0 else {
            touch()
            return false
        }
        return idle.isOver(now: .now())
    }

    /// Ends the stream for all sinks.
    func end() {
        giveBack()
        ended = true
        endSmall()
        source.end()
        audience.end()
        stream.end()
    }
}

extension SessionRequest {
    /// How much the encoder may send at once, in ms. On a connection that carries just the bitrate, a picture of that
    /// size is so late.
    fileprivate var burst: Int { adapt == .fixed ? SessionParameters.defaultBurst : 170 }

    /// Returns the first field that differs in `request` and cannot change while a session runs; `nil` if there is
    /// none.
    fileprivate func fixedField(changedIn request: SessionRequest) -> String? {
        if codec != request.codec { return "codec" }
        if chroma != request.chroma { return "chroma" }
        if encoder != request.encoder { return "encoder" }
        if framing != request.framing { return "framing" }
        if `repeat` != request.repeat { return "repeat" }
        if keyframeInterval != request.keyframeInterval { return "keyframeInterval" }
        if staticKeyframeInterval != request.staticKeyframeInterval { return "staticKeyframeInterval" }
        return nil
    }

    /// Returns the update that makes an agent encode these settings instead of `former`; `nil` if nothing changes for
    /// it.
    package func update(from former: SessionRequest) -> SessionUpdate? {
        let update = SessionUpdate(
            bitrate: bitrate == former.bitrate ? nil : bitrate,
            burst: burst == former.burst ? nil : burst,
            fps: fps == former.fps ? nil : fps,
            size: size == former.size ? nil : size
        )
        return update == SessionUpdate() ? nil : update
    }
}
