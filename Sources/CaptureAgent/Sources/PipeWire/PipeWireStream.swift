import CPipeWire
import Glibc
import Media
import Wire

/// A consumer of one PipeWire video node.
///
/// PipeWire's thread owns everything but `ending`; callers hold the connection's lock.
final class PipeWireStream: @unchecked Sendable {
    // Unchecked because all mutable state is touched only in PipeWire's thread or under its lock.

    /// The error of a stream that owes a frame and does not send it.
    static let noFrames = SourceError.timeout(
        cause: "no_frames",
        detail: "The screen's PipeWire node was linked but sends no picture. The agent asks it again."
    )

    private static let nodeGone = "The screen's PipeWire node is gone. It is looked for again."

    /// How long a stream may take from the connection to running, in ns.
    private static let startTimeout: UInt64 = .milliseconds(5_000)

    /// How long a linked stream may take to its first picture, in ns, unless it is excused.
    ///
    /// If the session manager was restarted, a producer may never send a picture and not report this. PipeWire 0.3
    /// sometimes loses the memory of all buffers when a format changes: "invalid memory type 4" in its log.
    private static let firstFrameTimeout: UInt64 = .milliseconds(3_000)

    /// How long a stream that has run may stay paused, in ns. A restarted session manager does not always link it
    /// again.
    private static let pauseTimeout: UInt64 = .milliseconds(10_000)

    /// How long a lower rate must suffice before the producer is offered it, in ns. Each offer makes it allocate its
    /// buffers anew, which costs pictures.
    private static let loweringDelay: UInt64 = .milliseconds(10_000)

    /// How long a producer may take to send the pictures that take its buffers back, in ns.
    private static let returnTimeout: UInt64 = .milliseconds(200)

    private static let minimumBuffers: Int32 = 4
    private static let preferredBuffers: Int32 = 8
    private static let maximumBuffers: Int32 = 16

    let ending: StreamEnding
    /// Set when the stream runs for the first time.
    private let started: Event

    private let sink: any FrameSink
    private let connection: PipeWireConnection
    private let target: PipeWireTarget
    private var stream: OpaquePointer?
    /// The last offer to the producer.
    private var offered: (rate: Int, dmaBuf: Bool, size: PictureSize?)?
    /// The last demand.
    private var demanded: SourceDemand.Value?
    /// Runs while a lower rate than the offered one suffices.
    private var loweringTimer: LoopTimer?
    private var link: OpaquePointer?
    /// Reports when the node disappears, because a stream that linked itself would only pause.
    private var listing: PipeWireListing?
    private let wakeSource: LoopWakeSource
    private let hook = UnsafeMutablePointer<spa_hook>.allocate(capacity: 1)

    /// How many more of the producer's pictures take a buffer along; `nil` while the stream delivers.
    private var buffersToReturn: Int?
    private let allReturned: Event

    /// Runs while the stream owes a first frame or the end of a pause.
    private var signTimer: LoopTimer?
    private var size: PictureSize?
    private var reader: PipeWireFrameReader

    /// Connects to a node.
    ///
    /// - Parameters:
    ///   - connection: Used by this stream alone, and shut down with it.
    ///   - demand: What the sessions need.
    init(
        _ connection: PipeWireConnection,
        target: PipeWireTarget,
        demand: SourceDemand.Value,
        sink: any FrameSink
    ) throws(SourceError) {
        do throws(SourceError) {
            ending = try StreamEnding()
            (started, allReturned) = try SourceError.explainingShortage { () throws(ResourceShortage) in
                (try Event(), try Event())
            }
        } catch {
            hook.deallocate()
            connection.shutDown()
            throw error
        }
        self.connection = connection
        self.target = target
        self.sink = sink
        hook.initialize(to: spa_hook())
        let wakeSource = LoopWakeSource(loop: connection.loop)
        self.wakeSource = wakeSource
        reader = PipeWireFrameReader(sink: sink, drawsPointer: target.drawsPointer) { wakeSource.wake() }
        let ending = ending
        connection.observe { ending.end(because: $0) }
        let failure = connection.withLock { connect(for: demand) }
        guard let failure else { return }
        shutDown()
        throw .unavailable(cause: "pipewire_unavailable", detail: "PipeWire refuses: \(failure). Is it running?")
    }

    deinit {
        hook.deallocate()
    }

    /// Offers the producer another format: a higher rate or another size at once, a lower rate if it suffices for a
    /// while.
    private func follow(_ demand: SourceDemand.Value) {
        connection.withLock {
            demanded = demand
            guard let offered else { return }
            let isOther = (offered.dmaBuf, offered.size) != (demand.takesDMABuf, target.size(for: demand))
            if isOther || offered.rate < demand.maximumRate {
                offer()
            } else {
                loweringTimer?.set(after: offered.rate > demand.maximumRate ? Self.loweringDelay : nil)
            }
        }
    }

    /// Offers the producer what is demanded. In PipeWire's thread or under its lock.
    fileprivate func offer() {
        loweringTimer?.set(after: nil)
        guard let stream, let demanded else { return }
        let size = target.size(for: demanded)
        offered = (demanded.maximumRate, demanded.takesDMABuf, size)
        PipeWireFormat.withOffers(for: demanded, size: size) { offers in
            _ = pw_stream_update_params(stream, &offers, UInt32(offers.count))
        }
    }

    /// Delivers frames until `stop` is set.
    ///
    /// - Parameters:
    ///   - openingDemand: The demand that the stream was opened with; `demand` may have changed since.
    ///   - wait: Returns `false` when one of the events is set, or `true` when the desktop has ended the screencast.
    ///     Throws if the stream is useless.
    /// - Throws: `SourceError` if the stream or the desktop ends it first.
    func deliver(
        _ demand: SourceDemand,
        openedWith openingDemand: SourceDemand.Value,
        until stop: Event,
        wait: ([Event]) throws(SourceError) -> Bool
    ) throws(SourceError) {
        demand.observe { [weak self] in self?.follow($0) }
        defer { demand.observe(nil) }
        let current = demand.value
        if current != openingDemand { follow(current) }
        guard Event.wait(forAnyOf: [stop, ending.event, started], until: MonotonicClock.now + Self.startTimeout) else {
            throw .timeout(
                cause: "stream_not_linked",
                detail: "PipeWire did not link the screen's stream. Is a session manager such as WirePlumber running?"
            )
        }
        let isOver = stop.isSet || ending.isOver
        let isClosed = try isOver ? false : wait([stop, ending.event])
        if stop.isSet { return }
        if isClosed {
            throw .lost(cause: "screencast_closed", detail: "The desktop ended the screencast. It is asked for again.")
        }
        throw ending.error ?? .lost(cause: "stream_error", detail: "The PipeWire stream ended.")
    }

    /// Excuses the stream from its first frame, because its screen may be static.
    func excuseFirstFrame() {
        connection.withLock {
            guard let stream, pw_stream_get_state(stream, nil) == PW_STREAM_STATE_STREAMING else { return }
            signTimer?.set(after: nil)
        }
    }

    /// Ends the stream and its connection. Frames that are still in use keep their pixels.
    ///
    /// Waits until the daemon has told the producer to pause, unless the daemon hangs. Must be called once, and not in
    /// PipeWire's thread.
    func shutDown() {
        if target.outlivesStream { returnBuffers() }
        connection.withLock {
            listing?.end()
            if let link { pw_proxy_destroy(link) }
            link = nil
            // Destroying the stream removes its buffers, which detaches the frames that lease them.
            if let stream { pw_stream_destroy(stream) }
            stream = nil
            wakeSource.destroy()
            signTimer?.destroy()
            loweringTimer?.destroy()
        }
        // xdg-desktop-portal-wlr 0.7 crashes if a portal session ends while its stream runs: it frees the screencast's
        // target and reads it when the stream pauses.
        connection.settle()
        connection.shutDown()
    }

    /// Waits until the producer has its buffers back, if it goes on sending pictures.
    private func returnBuffers() {
        let count = connection.withLock {
            guard let stream, !ending.isOver else { return 0 }
            let count = reader.returnAll(stream)
            buffersToReturn = count
            return count
        }
        if count > 0 {
            _ = Event.wait(forAnyOf: [allReturned, ending.event], until: MonotonicClock.now + Self.returnTimeout)
        }
    }

    // MARK: - Opening

    /// Connects the stream.
    ///
    /// - Returns: What failed, or `nil`.
    private func connect(for demand: SourceDemand.Value) -> String? {
        let own = Unmanaged.passUnretained(self).toOpaque()
        guard wakeSource.attach(callback: pipeWireStreamWoken, data: own) else {
            return "no event (\(String(cString: strerror(errno))))"
        }
        signTimer = LoopTimer(loop: connection.loop, callback: pipeWireSignMissing, data: own)
        loweringTimer = LoopTimer(loop: connection.loop, callback: pipeWireRateSuffices, data: own)
        guard signTimer != nil, loweringTimer != nil else { return "no timer (\(String(cString: strerror(errno))))" }
        let listing = PipeWireListing { [weak self] in self?.globalRemoved($0) }
        guard listing.begin(on: connection.core) else {
            return "no list of objects (\(String(cString: strerror(errno))))"
        }
        self.listing = listing
        let properties = pw_properties_new_string("media.type=Video media.category=Capture media.role=Screen")
        stream = pw_stream_new(connection.core, "heliograph", properties)
        guard let stream else { return "no stream (\(String(cString: strerror(errno))))" }
        pw_stream_add_listener(stream, hook, pipeWireStreamEvents, own)
        var flags = PW_STREAM_FLAG_MAP_BUFFERS.rawValue | PW_STREAM_FLAG_DONT_RECONNECT.rawValue
        if target.linking == .sessionManager { flags |= PW_STREAM_FLAG_AUTOCONNECT.rawValue }
        let size = target.size(for: demand)
        offered = (demand.maximumRate, demand.takesDMABuf, size)
        let result = PipeWireFormat.withOffers(for: demand, size: size) { offers in
            let (flags, count) = (pw_stream_flags(flags), UInt32(offers.count))
            return pw_stream_connect(stream, SPA_DIRECTION_INPUT, target.node, flags, &offers, count)
        }
        return result < 0 ? "no connection to node \(target.node) (\(String(cString: strerror(-result))))" : nil
    }

    // MARK: - In PipeWire's thread

    private func globalRemoved(_ id: UInt32) {
        if id == target.node { ending.end(because: .lost(cause: "node_gone", detail: Self.nodeGone)) }
    }

    fileprivate func stateChanged(to state: pw_stream_state, message: String?) {
        switch state {
        case PW_STREAM_STATE_STREAMING:
            let isFirst = !started.isSet
            signTimer?.set(after: Self.firstFrameTimeout)
            started.set()
            // Later sizes come from the pictures, which may be smaller than the format.
            sink.sourceChanged(SourceStatus(state: .streaming, size: isFirst ? size : nil))
        case PW_STREAM_STATE_PAUSED:
            if target.linking == .own, link == nil, let stream {
                link = cpw_core_create_link(connection.core, target.node, pw_stream_get_node_id(stream))
            }
            signTimer?.set(after: started.isSet ? Self.pauseTimeout : nil)
            if started.isSet, !ending.isOver {
                sink.sourceChanged(SourceStatus(state: .paused, cause: "stream_paused"))
            }
        case PW_STREAM_STATE_ERROR:
            ending.end(
                because: .lost(
                    cause: "stream_error",
                    detail: "PipeWire ended the stream: \(message ?? "no reason given")."
                )
            )
        case PW_STREAM_STATE_UNCONNECTED:
            ending.end(because: .lost(cause: "node_gone", detail: Self.nodeGone))
        default:
            break
        }
    }

    fileprivate func formatChanged(_ param: UnsafePointer<spa_pod>?) {
        guard let param, let stream else { return }
        guard let format = PipeWireFormat(param) else {
            ending.end(
                because: .lost(
                    cause: "format_refused",
                    detail: "The screen's PipeWire node fixed a format that was not offered."
                )
            )
            return
        }
        size = format.size
        reader.formatChanged(to: format)
        format.withBufferWishes(
            counts: (Self.minimumBuffers, Self.preferredBuffers, Self.maximumBuffers),
            withPointer: target.drawsPointer
        ) { wishes in
            _ = pw_stream_update_params(stream, &wishes, UInt32(wishes.count))
        }
        if started.isSet { sink.sourceChanged(SourceStatus(state: .streaming, size: format.size)) }
    }

    fileprivate func bufferAdded(_ buffer: UnsafeMutablePointer<pw_buffer>) {
        reader.bufferAdded(buffer)
    }

    fileprivate func bufferRemoved(_ buffer: UnsafeMutablePointer<pw_buffer>) {
        reader.bufferRemoved(buffer)
    }

    fileprivate func collectReturned() {
        if let stream { reader.collectReturned(stream) }
    }

    fileprivate func process() {
        guard let stream else { return }
        guard let remaining = buffersToReturn else {
            if reader.process(stream) { signTimer?.set(after: nil) }
            return
        }
        reader.discard(stream)
        buffersToReturn = remaining - 1
        if remaining <= 1 { allReturned.set() }
    }

    fileprivate func signMissing() {
        let isPaused = stream.map { pw_stream_get_state($0, nil) == PW_STREAM_STATE_PAUSED } ?? false
        ending.end(
            because: isPaused
                ? .timeout(
                    cause: "stream_stays_paused",
                    detail: "The screen's stream was paused and not linked again. The agent reopens it."
                )
                : Self.noFrames
        )
    }
}

// MARK: - Trampolines

// Created once and never freed, because PipeWire keeps the pointer to the event table while a listener lives.
// `nonisolated(unsafe)` because it is never written afterwards.
nonisolated(unsafe) private let pipeWireStreamEvents: UnsafePointer<pw_stream_events> = {
    var events = pw_stream_events()
    events.version = UInt32(PW_VERSION_STREAM_EVENTS)
    events.state_changed = { data, _, state, error in
        data.map(stream)?.stateChanged(to: state, message: error.map { String(cString: $0) })
    }
    events.param_changed = { data, id, param in
        if id == SPA_PARAM_Format.rawValue { data.map(stream)?.formatChanged(param) }
    }
    events.add_buffer = { data, buffer in
        if let data, let buffer { stream(data).bufferAdded(buffer) }
    }
    events.remove_buffer = { data, buffer in
        if let data, let buffer { stream(data).bufferRemoved(buffer) }
    }
    events.process = { data in data.map(stream)?.process() }
    let table = UnsafeMutablePointer<pw_stream_events>.allocate(capacity: 1)
    table.initialize(to: events)
    return UnsafePointer(table)
}()

private func pipeWireStreamWoken(_ data: UnsafeMutableRawPointer?, _: UInt64) {
    data.map(stream)?.collectReturned()
}

private func pipeWireRateSuffices(_ data: UnsafeMutableRawPointer?, _: UInt64) {
    data.map(stream)?.offer()
}

private func pipeWireSignMissing(_ data: UnsafeMutableRawPointer?, _: UInt64) {
    data.map(stream)?.signMissing()
}

/// Returns the stream from a listener's data pointer. It outlives its listeners, because `shutDown` removes them first.
private func stream(_ data: UnsafeMutableRawPointer) -> PipeWireStream {
    Unmanaged<PipeWireStream>.fromOpaque(data).takeUnretainedValue()
}
