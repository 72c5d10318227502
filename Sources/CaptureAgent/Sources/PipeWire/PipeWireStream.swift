import CPipeWire
import Glibc
import Media
import Synchronization
import Wire

/// A consumer of one PipeWire video node.
///
/// PipeWire's thread owns everything but `ended` and `ending`; callers hold its lock. At least four buffers are negotiated; the newest is
/// lent to the frame that is delivered, older queued ones go straight back.
final class PipeWireStream: @unchecked Sendable {
    // Unchecked because all mutable state is touched only in PipeWire's thread or under its lock (`withLoopLock`).

    private static let minimumBuffers: Int32 = 4
    private static let preferredBuffers: Int32 = 8
    private static let maximumBuffers: Int32 = 16

    /// Set when the stream cannot deliver any more; `ending` says why.
    let ended = Event()
    private let endingState = Mutex<SourceError?>(nil)

    private let sink: any FrameSink
    private let threadLoop: OpaquePointer
    private let loop: UnsafeMutablePointer<pw_loop>
    private var context: OpaquePointer?
    private var core: OpaquePointer?
    private var stream: OpaquePointer?
    private let wakeSource: LoopWakeSource
    private let coreHook = UnsafeMutablePointer<spa_hook>.allocate(capacity: 1)
    private let streamHook = UnsafeMutablePointer<spa_hook>.allocate(capacity: 1)

    private var format: (size: PictureSize, pixels: PixelFormat)?
    private var buffers = PipeWireBuffers()
    private let lender: BufferLender
    private var wasStreaming = false

    /// Why the stream ended, once `ended` is set.
    var ending: SourceError? { endingState.withLock { $0 } }

    /// Connects to a node.
    ///
    /// - Parameters:
    ///   - descriptor: An open connection to the PipeWire daemon, for example a portal's. Taken over.
    ///   - node: The node's id.
    ///   - maximumRate: Frames per second that are worth delivering.
    init(descriptor: Int32, node: UInt32, maximumRate: Int, sink: any FrameSink) throws(SourceError) {
        _ = Self.initialisePipeWire
        guard let threadLoop = pw_thread_loop_new("pipewire", nil), let loop = pw_thread_loop_get_loop(threadLoop)
        else {
            close(descriptor)
            throw .unavailable(cause: "pipewire_unavailable", detail: "PipeWire's event loop could not be made.")
        }
        self.threadLoop = threadLoop
        self.loop = loop
        self.sink = sink
        coreHook.initialize(to: spa_hook())
        streamHook.initialize(to: spa_hook())
        let wakeSource = LoopWakeSource(loop: loop)
        self.wakeSource = wakeSource
        lender = BufferLender { wakeSource.wake() }
        wakeSource.attach(callback: pipeWireStreamWoken, data: Unmanaged.passUnretained(self).toOpaque())
        do throws(SourceError) {
            try open(descriptor: descriptor, node: node, maximumRate: maximumRate)
        } catch {
            shutDown()
            throw error
        }
    }

    deinit {
        streamHook.deallocate()
        coreHook.deallocate()
    }

    /// Announces another maximum rate to the producer.
    func changeMaximumRate(_ maximumRate: Int) {
        withLoopLock {
            guard let stream else { return }
            PipeWireFormat.withOffer(maximumRate: maximumRate) { offer in
                _ = pw_stream_update_params(stream, &offer, 1)
            }
        }
    }

    /// Ends the stream. Frames that are still held keep their pixels. Called once, not in PipeWire's thread.
    func shutDown() {
        withLoopLock {
            // Destroying the stream removes its buffers, which detaches the frames that lease them.
            if let stream { pw_stream_destroy(stream) }
            stream = nil
            wakeSource.destroy()
            if let core { pw_core_disconnect(core) }
            core = nil
            if let context { pw_context_destroy(context) }
            context = nil
        }
        pw_thread_loop_stop(threadLoop)
        pw_thread_loop_destroy(threadLoop)
    }

    // MARK: - Opening

    private static let initialisePipeWire: Void = pw_init(nil, nil)

    private func open(descriptor: Int32, node: UInt32, maximumRate: Int) throws(SourceError) {
        guard pw_thread_loop_start(threadLoop) == 0 else {
            close(descriptor)
            throw .unavailable(cause: "pipewire_unavailable", detail: "PipeWire's thread could not be started.")
        }
        let failure = withLoopLock { connect(descriptor: descriptor, node: node, maximumRate: maximumRate) }
        if let failure {
            throw .unavailable(cause: "pipewire_unavailable", detail: "PipeWire refuses: \(failure). Is it running?")
        }
    }

    /// Returns what failed.
    private func connect(descriptor: Int32, node: UInt32, maximumRate: Int) -> String? {
        let own = Unmanaged.passUnretained(self).toOpaque()
        context = pw_context_new(loop, nil, 0)
        guard let context else {
            close(descriptor)
            return "no context (\(String(cString: strerror(errno))))"
        }
        core = pw_context_connect_fd(context, descriptor, nil, 0)
        guard let core else { return "no connection (\(String(cString: strerror(errno))))" }
        cpw_core_add_listener(core, coreHook, pipeWireCoreEvents, own)

        let properties = pw_properties_new_string("media.type=Video media.category=Capture media.role=Screen")
        stream = pw_stream_new(core, "heliograph", properties)
        guard let stream else { return "no stream (\(String(cString: strerror(errno))))" }
        pw_stream_add_listener(stream, streamHook, pipeWireStreamEvents, own)
        let flags =
            PW_STREAM_FLAG_AUTOCONNECT.rawValue | PW_STREAM_FLAG_MAP_BUFFERS.rawValue
            | PW_STREAM_FLAG_DONT_RECONNECT.rawValue
        let result = PipeWireFormat.withOffer(maximumRate: maximumRate) { offer in
            pw_stream_connect(stream, SPA_DIRECTION_INPUT, node, pw_stream_flags(flags), &offer, 1)
        }
        return result < 0 ? "no connection to node \(node) (\(String(cString: strerror(-result))))" : nil
    }

    private func withLoopLock<Result>(_ body: () -> Result) -> Result {
        pw_thread_loop_lock(threadLoop)
        defer { pw_thread_loop_unlock(threadLoop) }
        return body()
    }

    private func end(_ error: SourceError) {
        endingState.withLock { ending in
            if ending == nil { ending = error }
        }
        ended.set()
    }

    // MARK: - In PipeWire's thread

    fileprivate func coreFailed(id: UInt32, result: Int32, message: String) {
        // Errors of other objects concern requests that have their own answers.
        guard id == 0 else { return }
        end(.lost(cause: "pipewire_lost", detail: "The connection to PipeWire broke: \(message). It is opened again."))
    }

    fileprivate func stateChanged(to state: pw_stream_state, message: String?) {
        switch state {
        case PW_STREAM_STATE_STREAMING:
            wasStreaming = true
            sink.sourceChanged(SourceStatus(state: .streaming, size: format?.size))
        case PW_STREAM_STATE_PAUSED:
            if wasStreaming {
                sink.sourceChanged(SourceStatus(state: .paused, cause: "stream_paused", size: format?.size))
            }
        case PW_STREAM_STATE_ERROR:
            end(.lost(cause: "stream_error", detail: "PipeWire ended the stream: \(message ?? "no reason given")."))
        case PW_STREAM_STATE_UNCONNECTED:
            if wasStreaming { end(.lost(cause: "node_gone", detail: "The screen's PipeWire node is gone.")) }
        default:
            break
        }
    }

    fileprivate func formatChanged(_ param: UnsafePointer<spa_pod>?) {
        guard let param, let stream else { return }
        guard let parsed = PipeWireFormat.parse(param) else {
            end(
                .lost(
                    cause: "format_refused",
                    detail: "The screen's PipeWire node fixed a format that was not offered."
                )
            )
            return
        }
        format = parsed
        withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { memory in
            let half = memory.count / 2
            var params: [UnsafePointer<spa_pod>?] = [
                cpw_buffers_param(
                    memory.baseAddress,
                    UInt32(half),
                    Self.minimumBuffers,
                    Self.preferredBuffers,
                    Self.maximumBuffers,
                    1 << Int32(SPA_DATA_MemFd.rawValue) | 1 << Int32(SPA_DATA_MemPtr.rawValue)
                ),
                cpw_meta_param(
                    memory.baseAddress! + half,
                    UInt32(half),
                    SPA_META_Header.rawValue,
                    Int32(MemoryLayout<spa_meta_header>.size)
                ),
            ]
            _ = pw_stream_update_params(stream, &params, UInt32(params.count))
        }
        if wasStreaming { sink.sourceChanged(SourceStatus(state: .streaming, size: parsed.size)) }
    }

    fileprivate func bufferAdded(_ buffer: UnsafeMutablePointer<pw_buffer>) {
        buffers.add(buffer)
    }

    fileprivate func bufferRemoved(_ buffer: UnsafeMutablePointer<pw_buffer>) {
        guard let index = buffers.remove(buffer) else { return }
        lender.forget(index.number)
        index.frame?.detach()
    }

    /// Queues the buffers that frames have given back.
    fileprivate func collectReturned() {
        lender.collect { number in
            guard let stream, let buffer = buffers.buffer(number) else { return }
            buffers.setFrame(nil, of: number)
            pw_stream_queue_buffer(stream, buffer)
        }
    }

    fileprivate func process() {
        collectReturned()
        guard let stream, var newest = pw_stream_dequeue_buffer(stream) else { return }
        while let newer = pw_stream_dequeue_buffer(stream) {
            pw_stream_queue_buffer(stream, newest)
            newest = newer
        }
        guard let format, let picture = PipeWirePicture(newest, size: format.size, pixels: format.pixels) else {
            sink.skippedBuffer()
            pw_stream_queue_buffer(stream, newest)
            return
        }
        // A producer without a free buffer drops its next frame, so the last two are never lent.
        if let number = buffers.number(of: newest), lender.lentCount + 2 < buffers.count {
            let frame = picture.leased(lender.lend(number))
            buffers.setFrame(frame, of: number)
            sink.receive(frame)
        } else {
            let frame = picture.copied()
            pw_stream_queue_buffer(stream, newest)
            sink.copiedFrame()
            sink.receive(frame)
        }
    }
}

// MARK: - Trampolines

// PipeWire keeps the pointers to the event tables for as long as a listener lives: they are made once and never freed.
// `nonisolated(unsafe)` because they are not written after that.

nonisolated(unsafe) private let pipeWireCoreEvents: UnsafePointer<pw_core_events> = {
    var events = pw_core_events()
    events.version = UInt32(PW_VERSION_CORE_EVENTS)
    events.error = { data, id, _, result, message in
        let text = message.map { String(cString: $0) } ?? String(cString: strerror(-result))
        data.map(stream)?.coreFailed(id: id, result: result, message: text)
    }
    let table = UnsafeMutablePointer<pw_core_events>.allocate(capacity: 1)
    table.initialize(to: events)
    return UnsafePointer(table)
}()

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

/// The stream behind a listener's data pointer. It outlives its listeners: `shutDown` removes them first.
private func stream(_ data: UnsafeMutableRawPointer) -> PipeWireStream {
    Unmanaged<PipeWireStream>.fromOpaque(data).takeUnretainedValue()
}
