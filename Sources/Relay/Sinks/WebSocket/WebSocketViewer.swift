import HeliographAPI
import Logging
import Media
import NIOCore
import NIOWebSocket

/// A viewer on a WebSocket.
///
/// Its connection belongs to another event loop. Messages go there in batches, and the socket's progress is reported
/// back. The bytes under way are bounded; the rest waits in the queue, which can drop it by its rules.
@MediaLoop
final class WebSocketViewer: LayeredViewer {
    /// The number of bytes under way to the socket at which it counts as full, and the same while the session's bitrate
    /// follows its viewers.
    private static let (window, narrowWindow) = (128 << 10, 32 << 10)
    /// The most bytes that the kernel keeps unsent while the bitrate follows viewers.
    private static let unsent: ChannelOptions.Types.SocketOption.Value = 16 << 10
    private static let tickInterval = TimeAmount.milliseconds(200)

    private struct Message: Sendable {
        let opcode: WebSocketOpcode
        var head: ByteBuffer?
        let payload: ByteBuffer

        var byteCount: Int { (head?.readableBytes ?? 0) + payload.readableBytes }
    }

    private let session: Session
    /// The session whose pictures it gets: its own, or that with smaller ones.
    private var layer: Session
    private let channel: any Channel
    let format: StreamFormat
    let sound: SoundCodec?
    /// Whether it wants sound now. A container's track is there from the start.
    private(set) var wantsSound: Bool
    private let join: Join?
    private(set) var queue: ViewerQueue
    private(set) var underWay = 0
    private var ended = false

    private let stopwatch: HandoverLatency.Stopwatch
    private var presentations: PresentationLedger
    private var statistics: ViewerStatistics
    private let joined: NIODeadline
    /// What the session's bitrate knows of it; `nil` while that is fixed.
    private var followed: FollowedViewer?
    /// The target that it was told.
    private var target: EncoderTarget?
    private var ticks: RepeatedTask?
    /// The viewer's control of the device.
    private(set) var control: ViewerControl?
    // The last events that the viewer got.
    private var source: String?
    private var configuration: StreamConfiguration?
    private var tracks: [MediaTrack] = []
    /// The last picture whose size and geometry the viewer was told.
    private var measured: UnitHeader?
    private var lastPTS: Int64?
    /// The PTS of the last picture that it claims to have presented.
    private var presentedPTS: Int64?

    /// Creates a viewer for a connection that is about to become a WebSocket.
    ///
    /// - Parameters:
    ///   - container: `nil` for Annex B.
    ///   - audio: Whether a container has the device's sound. Bare units of sound come on demand.
    ///   - join: `nil` for the session's setting.
    ///   - right: Whether it may act on the screen.
    init(
        session: Session,
        of broadcast: Broadcast?,
        channel: any Channel,
        container: Container?,
        audio: Bool,
        join: Join?,
        limits: ViewerQueue.Limits,
        right: ControlRight,
        logger: Logger
    ) {
        (self.session, layer) = (session, session)
        self.channel = channel
        format = container.map(StreamFormat.container) ?? .bare(.annexB)
        sound = container == nil || audio ? .opus : nil
        wantsSound = container != nil && audio
        self.join = join
        queue = ViewerQueue(limits: limits)
        let now = NIODeadline.now()
        stopwatch = HandoverLatency.Stopwatch(session.handoverLatency)
        presentations = PresentationLedger(now: now)
        statistics = ViewerStatistics(session.stream, now: now)
        joined = now
        control = ViewerControl(of: self, session: session, on: broadcast, right: right, logger: logger)
    }

    // MARK: The connection's side

    private func begin() {
        let events = [control?.change()].compactMap(\.self)
        tracks = session.stream.tracks.with(sound: .opus)
        send([Self.text(ViewerEvent.hello(session))] + targetChange() + sourceChange() + events.map(Self.text))
        guard session.admit(self, join: join) else {
            // There was room when the upgrade was accepted.
            return close(.init(WebSocketClose.tryAgainLater, "the session has ended or is full"))
        }
        ticks = MediaLoop.eventLoop.scheduleRepeatedTask(initialDelay: Self.tickInterval, delay: Self.tickInterval) {
            [weak self] _ in
            MediaLoop.assumeIsolated { self?.tick() }
        }
    }

    private func leave() {
        control?.end()
        ended = true
        ticks?.cancel()
        session.remove(self)
    }

    /// Begins or ends sound, unless it is part of a container.
    private func listens(_ isOn: Bool) {
        guard !ended, case .bare = format else { return }
        wantsSound = isOn
        layer.source.follow()
    }

    /// Records an acknowledgement of a picture.
    ///
    /// - Parameter instant: When it was presented, in monotonic ns on the relay's clock, if known.
    private func presented(_ pts: Int64, at instant: UInt64?) {
        presentedPTS = pts
        guard let instant else { return }
        let now = NIODeadline.now()
        layer.presentationLatency.take(presentations.presented(pts, at: instant, now: now), now: now)
    }

    // MARK: Viewer

    func offer(_ unit: RenderedUnit) {
        // Another layer's pictures may be from before the last one.
        if unit.unit.isVideo, let lastPTS, unit.unit.pts <= lastPTS { return queue.miss() }
        queue.offer(unit)
        drain()
    }

    func watch(_ layer: Session) {
        self.layer = layer
        statistics = ViewerStatistics(layer.stream, now: .now())
        queue.restart()
    }

    func becomeWhole() { followed?.becomeWhole() }

    /// A container goes on only with pictures of the same size and encoder.
    private var mayChangeLayer: Bool { if case .bare = format { true } else { false } }

    var wantsSmall: Bool { mayChangeLayer && followed?.wantsSmall == true }

    func miss() { queue.miss() }

    func finish() {
        control?.end()
        ticks?.cancel()
        close(.init(.goingAway, "the session has ended"))
    }

    func close(because reason: ViewerClosure) {
        control?.end()
        ticks?.cancel()
        send([Self.text(ViewerEvent.end(reason))])
        let code = reason == .memory ? WebSocketClose.tryAgainLater : WebSocketClose.fellBehind
        close(.init(code, reason.rawValue))
    }

    var hasRoom: Bool { underWay < room && followed?.mustWait != true }

    private var room: Int { followed == nil ? Self.window : Self.narrowWindow }

    func beFixed() { followed = nil }

    func followRate(
        within limits: ClosedRange<Double>,
        layers: LayerChoice.Bitrates?,
        now: NIODeadline
    ) -> FollowedViewer.Vote? {
        if followed == nil { boundUnsentBytes() }
        var viewer = followed ?? FollowedViewer()
        let vote = viewer.decide(within: limits, layers: mayChangeLayer ? layers : nil, now: now)
        followed = viewer
        if viewer.mustWait { queue.skip() } else { drain() }
        return vote
    }

    /// Keeps the kernel from hoarding what it cannot send: pictures wait in the queue instead, which drops old ones.
    private func boundUnsentBytes() {
        // Linux's TCP_NOTSENT_LOWAT. A connection that is not TCP goes without.
        _ = channel.setOption(.tcpOption(.init(rawValue: 25)), value: Self.unsent)
    }

    private func drain() {
        guard hasRoom, !queue.isEmpty else { return }
        var messages = sourceChange() + trackChange()
        var bytes = underWay
        var relayed: [UInt64] = []
        let now = NIODeadline.now()
        while bytes < room, let entry = queue.next() {
            let (unit, before) = (entry.unit, messages.count)
            if !unit.isVideo {
                messages.append(Self.sound(entry))
                bytes += messages[before...].reduce(0) { $0 + $1.byteCount }
                continue
            }
            // Until it shows this layer, its places are those of the former one.
            control?.follow(layer)
            if entry.lost > 0 { messages.append(Self.text(ViewerEvent.resync(dropped: entry.lost))) }
            messages += sizeChange(of: unit.header) + configurationChange(of: entry.rendered)
            messages.append(
                Message(
                    opcode: .binary,
                    head: UnitMessage.head(unit.header, relayed: unit.relayed),
                    payload: entry.rendered.bytes
                )
            )
            relayed.append(unit.relayed)
            presentations.sent(unit.header, now: now)
            if !unit.header.flags.contains(.repeat) {
                let since = max(joined, .uptimeNanoseconds(unit.relayed))
                followed?.sent(unit.pts, bytes: entry.rendered.bytes.readableBytes, since: since)
            }
            bytes += messages[before...].reduce(0) { $0 + $1.byteCount }
            lastPTS = unit.pts
        }
        send(messages, of: relayed)
    }

    /// Sends the feed if it has changed, and the statistics if they are due.
    private func tick() {
        defer { control?.tick() }
        send(targetChange())
        // Events describe the present, so a full connection skips them and gets later ones.
        guard hasRoom else { return }
        let now = NIODeadline.now()
        var messages = sourceChange() + trackChange()
        let behind = presentedPTS.flatMap { presented in lastPTS.map { max(0, $0 - presented) } }
        if let event = statistics.due(session, layer.stream, delivered: queue.counters, behind: behind, now: now) {
            messages.append(Self.text(event))
        }
        send(messages)
    }

    // MARK: Messages

    /// Returns the event for another feed, if it has changed.
    private func sourceChange() -> [Message] {
        let current = layer.stream.feed.rawValue
        guard current != source else { return [] }
        source = current
        return [Self.text(ViewerEvent.feed(current))]
    }

    /// Returns the event for another target of the encoder, if it has changed.
    private func targetChange() -> [Message] {
        let current = EncoderTarget(
            adapt: session.request.adapt,
            bitrate: layer.encoded.bitrate,
            fps: layer.encoded.fps
        )
        guard current != target else { return [] }
        target = current
        return [Self.text(ViewerEvent.target(current))]
    }

    /// Returns the event for other tracks, if they have changed.
    private func trackChange() -> [Message] {
        let current = session.stream.tracks.with(sound: .opus)
        guard current != tracks else { return [] }
        tracks = current
        return [Self.text(ViewerEvent.tracks(tracks))]
    }

    private static func sound(_ entry: ViewerQueue.Entry) -> Message {
        var header = entry.unit.header
        if entry.lost > 0 { header.flags.insert(.gap) }
        return Message(
            opcode: .binary,
            head: SoundMessage.head(header, relayed: entry.unit.relayed),
            payload: entry.rendered.bytes
        )
    }

    /// Returns the message for another configuration, if it has changed.
    private func configurationChange(of rendered: RenderedUnit) -> [Message] {
        guard var next = rendered.unit.configuration else { return [] }
        if let beginning = rendered.beginning { next.preamble = Array(beginning.readableBytesView) }
        guard next != configuration else { return [] }
        configuration = next
        return [Message(opcode: .binary, payload: next.message)]
    }

    /// Returns the event for another size, orientation or geometry of the pictures, if it has changed.
    private func sizeChange(of header: UnitHeader) -> [Message] {
        defer { measured = header }
        let isSame =
            measured.map {
                ($0.size, $0.orientation, $0.geometry) == (header.size, header.orientation, header.geometry)
            } ?? false
        return isSame ? [] : [Self.text(ViewerEvent.size(header))]
    }

    private static func text(_ event: JSONValue) -> Message {
        Message(opcode: .text, payload: ByteBuffer(string: event.text))
    }

    func tell(_ events: [JSONValue]) { send(events.map(Self.text)) }

    func close(_ close: WebSocketClose) {
        ended = true
        WebSocketHandler.close(channel, close)
    }

    /// Sends a batch of messages.
    ///
    /// - Parameter relayed: When the relay received the pictures among them, monotonic ns.
    private func send(_ messages: [Message], of relayed: [UInt64] = []) {
        guard !ended, !messages.isEmpty else { return }
        let bytes = messages.reduce(0) { $0 + $1.byteCount }
        underWay += bytes
        let channel = channel
        channel.eventLoop.execute {
            let promise = channel.eventLoop.makePromise(of: Void.self)
            for (index, message) in messages.enumerated() {
                // The picture's bytes are the session's own: neither copied nor masked.
                let frame = WebSocketFrame(
                    fin: true,
                    opcode: message.opcode,
                    data: message.payload,
                    extensionData: message.head
                )
                channel.write(frame, promise: index == messages.count - 1 ? promise : nil)
            }
            channel.flush()
            promise.futureResult.whenSuccess {
                MediaLoop.eventLoop.execute { MediaLoop.assumeIsolated { self.took(bytes, of: relayed) } }
            }
        }
    }

    /// Records that the socket took bytes.
    private func took(_ bytes: Int, of relayed: [UInt64]) {
        underWay -= bytes
        stopwatch.handedOver(relayed)
        guard !ended else { return }
        drain()
        if starves { layer.source.refreshStarving() }
    }
}

extension WebSocketViewer: WebSocketEndpoint {
    nonisolated func opened() { onMediaLoop { $0.begin() } }

    nonisolated func closed() { onMediaLoop { $0.leave() } }

    nonisolated func received(_ text: String) throws -> JSONValue? {
        switch try ViewerMessage(parsing: text) {
        // Answered at once, because the viewer assumes equal delays both ways.
        case .clock(let id): return ViewerEvent.clock(id: id, now: NIODeadline.now().uptimeNanoseconds)
        case .keyframe: onMediaLoop { $0.layer.source.sinkWantsKeyframe() }
        case .acknowledgement(let pts, let instant): onMediaLoop { $0.presented(pts, at: instant) }
        case .received(let pts): onMediaLoop { $0.followed?.arrived(pts, now: .now()) }
        case .audio(let isOn): onMediaLoop { $0.listens(isOn) }
        case .unknown: break
        }
        return nil
    }

    nonisolated func received(_ bytes: [UInt8]) throws {
        let input = try ViewerInput(parsing: bytes)
        onMediaLoop { $0.control?.received(input) }
    }

    private nonisolated func onMediaLoop(_ body: @escaping @MediaLoop @Sendable (WebSocketViewer) -> Void) {
        MediaLoop.eventLoop.execute { MediaLoop.assumeIsolated { body(self) } }
    }
}
