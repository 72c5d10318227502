import CPipeWire
import Glibc
import Media
import Synchronization
import Wire

/// A consumer of one PipeWire video node.
///
/// PipeWire's thread owns everything but `ended` and `ending`; callers hold the connection's lock.
final class PipeWireStream: @unchecked Sendable {
    // Unchecked because all mutable state is touched only in PipeWire's thread or under its lock.

    /// Of a stream that owes a frame and does not send it.
    static let noFrames = SourceError.timeout(
        cause: "no_frames",
        detail: "The screen's PipeWire node was linked and sends nothing. It is asked again."
    )

    private static let nodeGone = "The screen's PipeWire node is gone. It is looked for again."

    /// How long the way from the connection to a running stream may take, ns.
    private static let startTimeout: UInt64 = .milliseconds(5_000)

    /// How long a stream that is linked may take to its first frame, ns, unless it is excused. A producer can have lost its way when the session manager
    /// was restarted, and says nothing of it.
    private static let firstFrameTimeout: UInt64 = .milliseconds(3_000)

    /// How long a stream that has run may stay paused, ns. A session manager that was started again does not always link it anew.
    private static let pauseTimeout: UInt64 = .milliseconds(10_000)

    /// How long a producer may take to send the pictures that take its buffers back, ns.
    private static let returnTimeout: UInt64 = .milliseconds(200)

    private static let minimumBuffers: Int32 = 4
    private static let preferredBuffers: Int32 = 8
    private static let maximumBuffers: Int32 = 16

    /// Set when the stream cannot deliver any more; `ending` says why.
    let ended: Event
    /// Set when the stream has run for the first time.
    private let started: Event
    private let endingState = Mutex<SourceError?>(nil)

    private let sink: any FrameSink
    private let connection: PipeWireConnection
    private let target: PipeWireTarget
    private var stream: OpaquePointer?
    /// What the producer was last offered.
    private var offered: (rate: Int, dmaBuf: Bool)?
    private var link: OpaquePointer?
    /// Tells when the node goes: a stream that linked itself would only pause.
    private var listing: PipeWireListing?
    private let wakeSource: LoopWakeSource
    private let hook = UnsafeMutablePointer<spa_hook>.allocate(capacity: 1)

    /// How many more of the producer's pictures take a buffer along; nil as long as the stream delivers.
    private var buffersToReturn: Int?
    private let allReturned: Event

    /// Runs while the stream owes a sign of life: a first frame, or the end of a pause.
    private var signTimer: LoopTimer?
    private var size: PictureSize?
    private var reader: PipeWireFrameReader

    /// Why the stream ended, once `ended` is set.
    var ending: SourceError? { endingState.withLock { $0 } }

    /// Connects to a node.
    ///
    /// - Parameters:
    ///   - connection: Used by this stream alone, and shut down with it.
    ///   - demand: What the sessions have use for.
    init(
        _ connection: PipeWireConnection,
        target: PipeWireTarget,
        demand: SourceDemand.Value,
        sink: any FrameSink
    ) throws(SourceError) {
        do throws(SourceError) {
            (ended, started, allReturned) = try SourceError.explainingShortage { () throws(ResourceShortage) in
                (try Event(), try Event(), try Event())
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
        connection.observe { [weak self] in self?.end($0) }
        let failure = connection.withLock { connect(for: demand) }
        guard let failure else { return }
        shutDown()
        throw .unavailable(cause: "pipewire_unavailable", detail: "PipeWire refuses: \(failure). Is it running?")
    }

    deinit {
        hook.deallocate()
    }

    /// Makes the producer another offer.
    private func follow(_ demand: SourceDemand.Value) {
        connection.withLock {
            guard let stream, offered?.rate != demand.maximumRate || offered?.dmaBuf != demand.takesDMABuf else {
                return
            }
            offered = (demand.maximumRate, demand.takesDMABuf)
            PipeWireFormat.withOffers(for: demand, size: target.size) { offers in
                _ = pw_stream_update_params(stream, &offers, UInt32(offers.count))
            }
        }
    }

    /// Delivers until `stop` is set; throws when the stream ends before, or the desktop ends it.
    ///
    /// - Parameters:
    ///   - openingDemand: What it was opened with; `demand` may have changed since.
    ///   - wait: Returns when one of the events is set, and then false, or true when the desktop has ended the screencast. Throws when the stream is of no
    ///     use.
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
        guard Event.wait(forAnyOf: [stop, ended, started], until: MonotonicClock.now + Self.startTimeout) else {
            throw .timeout(
                cause: "stream_not_linked",
                detail: "PipeWire did not link the screen's stream. Is a session manager such as WirePlumber running?"
            )
        }
        let isOver = stop.isSet || ended.isSet
        let isClosed = try isOver ? false : wait([stop, ended])
        if stop.isSet { return }
        if isClosed {
            throw .lost(cause: "screencast_closed", detail: "The desktop ended the screencast. It is asked for again.")
        }
        throw ending ?? .lost(cause: "stream_error", detail: "The PipeWire stream ended.")
    }

    /// Has the stream owe no first frame: its screen may be static.
    func excuseFirstFrame() {
        connection.withLock {
            guard let stream, pw_stream_get_state(stream, nil) == PW_STREAM_STATE_STREAMING else { return }
            signTimer?.set(after: nil)
        }
    }

    /// Ends the stream and its connection. Frames that are still held keep their pixels. Called once, not in PipeWire's thread.
    ///
    /// Waits until the daemon has told the producer to pause, unless the daemon hangs.
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
        }
        // xdg-desktop-portal-wlr 0.7 crashes if a portal session ends while its stream still runs: it frees the screencast's
        // target and then reads it when the stream pauses.
        connection.settle()
        connection.shutDown()
    }

    /// Waits until the producer has its buffers back, as far as it goes on sending pictures.
    private func returnBuffers() {
        let count = connection.withLock {
            guard let stream, !ended.isSet else { return 0 }
            let count = reader.returnAll(stream)
            buffersToReturn = count
            return count
        }
        if count > 0 { _ = Event.wait(forAnyOf: [allReturned, ended], until: MonotonicClock.now + Self.returnTimeout) }
    }

    // MARK: - Opening

    /// Returns what failed.
    private func connect(for demand: SourceDemand.Value) -> String? {
        let own = Unmanaged.passUnretained(self).toOpaque()
        guard wakeSource.attach(callback: pipeWireStreamWoken, data: own) else {
            return "no event (\(String(cString: strerror(errno))))"
        }
        signTimer = LoopTimer(loop: connection.loop, callback: pipeWireSignMissing, data: own)
        guard signTimer != nil else { return "no timer (\(String(cString: strerror(errno))))" }
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
        offered = (demand.maximumRate, demand.takesDMABuf)
        let result = PipeWireFormat.withOffers(for: demand, size: target.size) { offers in
            let (flags, count) = (pw_stream_flags(flags), UInt32(offers.count))
            return pw_stream_connect(stream, SPA_DIRECTION_INPUT, target.node, flags, &offers, count)
        }
        return result < 0 ? "no connection to node \(target.node) (\(String(cString: strerror(-result))))" : nil
    }

    private func end(_ error: SourceError) {
        endingState.withLock { ending in
            if ending == nil { ending = error }
        }
        ended.set()
    }

    // MARK: - In PipeWire's thread

    private func globalRemoved(_ id: UInt32) {
        if id == target.node { end(.lost(cause: "node_gone", detail: Self.nodeGone)) }
    }

    fileprivate func stateChanged(to state: pw_stream_state, message: String?) {
        switch state {
        case PW_STREAM_STATE_STREAMING:
            let isFirst = !started.isSet
            signTimer?.set(after: Self.firstFrameTimeout)
            started.set()
            // Later the pictures have said what their size is, which may be less than the format's.
            sink.sourceChanged(SourceStatus(state: .streaming, size: isFirst ? size : nil))
        case PW_STREAM_STATE_PAUSED:
            if target.linking == .own, link == nil, let stream {
                link = cpw_core_create_link(connection.core, target.node, pw_stream_get_node_id(stream))
            }
            signTimer?.set(after: started.isSet ? Self.pauseTimeout : nil)
            if started.isSet, !ended.isSet {
                sink.sourceChanged(SourceStatus(state: .paused, cause: "stream_paused"))
            }
        case PW_STREAM_STATE_ERROR:
            end(.lost(cause: "stream_error", detail: "PipeWire ended the stream: \(message ?? "no reason given")."))
        case PW_STREAM_STATE_UNCONNECTED:
            end(.lost(cause: "node_gone", detail: Self.nodeGone))
        default:
            break
        }
    }

    fileprivate func formatChanged(_ param: UnsafePointer<spa_pod>?) {
        guard let param, let stream else { return }
        guard let format = PipeWireFormat(param) else {
            end(
                .lost(
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
        signTimer?.set(after: nil)
        guard let stream else { return }
        guard let remaining = buffersToReturn else { return reader.process(stream) }
        reader.discard(stream)
        buffersToReturn = remaining - 1
        if remaining <= 1 { allReturned.set() }
    }

    fileprivate func signMissing() {
        let isPaused = stream.map { pw_stream_get_state($0, nil) == PW_STREAM_STATE_PAUSED } ?? false
        end(
            isPaused
                ? .timeout(
                    cause: "stream_stays_paused",
                    detail: "The screen's stream was paused and not linked again. It is opened anew."
                )
                : Self.noFrames
        )
    }
}

// MARK: - Trampolines

// PipeWire keeps the pointer to the event table for as long as a listener lives: it is made once and never freed.
// `nonisolated(unsafe)` because it is not written after that.
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

private func pipeWireSignMissing(_ data: UnsafeMutableRawPointer?, _: UInt64) {
    data.map(stream)?.signMissing()
}

/// The stream behind a listener's data pointer. It outlives its listeners: `shutDown` removes them first.
private func stream(_ data: UnsafeMutableRawPointer) -> PipeWireStream {
    Unmanaged<PipeWireStream>.fromOpaque(data).takeUnretainedValue()
}
