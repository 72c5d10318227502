import CPipeWire
import Glibc
import Synchronization
import Wire

/// A consumer of the sound of one PipeWire node.
///
/// While a sink is idle, PipeWire's thread sleeps.
final class SoundCapture: @unchecked Sendable {
    // Unchecked because all mutable state is touched only in PipeWire's thread or under its lock. Its thread for data
    // reads the stream, which `pw_stream_destroy` takes away from it first.

    /// What it hands over, in PipeWire's threads.
    struct Handler: Sendable {
        /// Samples (left and right in turn), and when the first one was captured, in monotonic ns.
        var samples: @Sendable ([Float], UInt64) -> Void
        /// The node makes no sound from now on.
        var idle: @Sendable () -> Void
    }

    /// Why the default sink cannot be captured, for people.
    static let noSink =
        "PipeWire links the capture to no sink: the desktop has none, or no session manager such as WirePlumber runs. "
        + "The setting audio: virtual makes a sink."
    private static let nodeGone = "The PipeWire node whose sound is captured is gone. It is looked for again."

    let ending: StreamEnding
    private let connection: PipeWireConnection
    private let target: SoundTarget
    private let handler: Handler
    private var stream: OpaquePointer?
    private let hook = UnsafeMutablePointer<spa_hook>.allocate(capacity: 1)
    /// The node that is linked to the capture; 0 until that is known.
    private let linked: Atomic<UInt32>
    /// The clock of the graph's cycle, in the thread for data; `nil` until there is one.
    private var position: UnsafePointer<spa_io_position>?

    /// Begins to capture.
    ///
    /// - Parameters:
    ///   - connection: Used by this capture alone, and shut down with it.
    ///   - latency: The samples that PipeWire may collect before it hands them over.
    init(
        _ connection: PipeWireConnection,
        target: SoundTarget,
        latency: Int,
        handler: Handler
    ) throws(SourceError) {
        do throws(SourceError) {
            ending = try StreamEnding()
        } catch {
            hook.deallocate()
            connection.shutDown()
            throw error
        }
        (self.connection, self.target, self.handler) = (connection, target, handler)
        linked = Atomic(target.node ?? 0)
        hook.initialize(to: spa_hook())
        let ending = ending
        connection.observe { ending.end(because: $0) }
        let failure = connection.withLock { connect(latency: latency) }
        guard let failure else { return }
        shutDown()
        throw .unavailable(cause: "pipewire_unavailable", detail: "PipeWire refuses: \(failure). Is it running?")
    }

    deinit { hook.deallocate() }

    /// Asks the daemon whether a node is linked to the capture. Must not be called in PipeWire's thread.
    func isLinked() throws(SourceError) -> Bool {
        let node = connection.withLock { stream.map { pw_stream_get_node_id($0) } } ?? UInt32.max
        let link = try connection.globals().first { $0.properties["link.input.node"] == "\(node)" }
        let other = link?.properties["link.output.node"].flatMap { UInt32($0) }
        if let other { linked.store(other, ordering: .relaxed) }
        return link != nil
    }

    /// Ends the capture and its connection. Must be called once, and not in PipeWire's thread.
    func shutDown() {
        connection.withLock {
            if let stream { pw_stream_destroy(stream) }
            stream = nil
        }
        connection.shutDown()
    }

    /// - Returns: What failed, or `nil`.
    private func connect(latency: Int) -> String? {
        var properties = [
            PW_KEY_MEDIA_TYPE: "Audio", PW_KEY_MEDIA_CATEGORY: "Capture", PW_KEY_NODE_NAME: "heliograph-audio",
            PW_KEY_NODE_LATENCY: "\(Self.quantum(for: latency))/\(SoundSamples.rate)",
        ]
        if target.kind == .sink {
            properties[PW_KEY_STREAM_CAPTURE_SINK] = "true"
            // A sink that nothing plays to stays asleep. A source would never wake.
            properties[PW_KEY_NODE_PASSIVE] = "true"
        }
        if let serial = target.serial { properties[PW_KEY_TARGET_OBJECT] = serial }
        let text = properties.map { "\($0) = \"\($1)\"" }.joined(separator: " ")
        stream = pw_stream_new(connection.core, "heliograph-audio", pw_properties_new_string(text))
        guard let stream else { return "no stream (\(String(cString: strerror(errno))))" }
        pw_stream_add_listener(stream, hook, soundStreamEvents, Unmanaged.passUnretained(self).toOpaque())
        // Samples are handled in the thread for data, because waking another one costs as much as encoding.
        var flags = PW_STREAM_FLAG_MAP_BUFFERS.rawValue | PW_STREAM_FLAG_AUTOCONNECT.rawValue
        flags |= PW_STREAM_FLAG_RT_PROCESS.rawValue
        // A named node is never replaced by another one.
        if target.serial != nil { flags |= PW_STREAM_FLAG_DONT_RECONNECT.rawValue }
        let result = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { memory in
            var offers = [
                cpw_audio_format(memory.baseAddress, 1024, UInt32(SoundSamples.rate), UInt32(SoundSamples.channels))
            ]
            return pw_stream_connect(stream, SPA_DIRECTION_INPUT, UInt32.max, pw_stream_flags(flags), &offers, 1)
        }
        return result < 0 ? "no connection (\(String(cString: strerror(-result))))" : nil
    }

    /// Returns the graph's step for packets of this many samples: the next power of two, because PipeWire takes the
    /// power below what is asked. A sink's samples come before they are played, so a step longer than a packet makes
    /// nothing later.
    private static func quantum(for samples: Int) -> Int {
        var quantum = 1
        while quantum < samples { quantum *= 2 }
        return quantum
    }

    // MARK: - In PipeWire's thread

    fileprivate func stateChanged(to state: pw_stream_state, message: String?) {
        switch state {
        case PW_STREAM_STATE_PAUSED: handler.idle()
        case PW_STREAM_STATE_ERROR where target.serial == nil:
            let reason = message.map { " PipeWire says: \($0)." } ?? ""
            ending.end(because: .unavailable(cause: "audio_no_sink", detail: Self.noSink + reason))
        case PW_STREAM_STATE_ERROR:
            ending.end(
                because: .lost(
                    cause: "audio_error",
                    detail: "PipeWire ended the sound: \(message ?? "no reason given")."
                )
            )
        case PW_STREAM_STATE_UNCONNECTED: ending.end(because: .lost(cause: "audio_node_gone", detail: Self.nodeGone))
        default: break
        }
    }

    /// Runs in the thread for data.
    fileprivate func process() {
        guard let stream else { return }
        var (values, last): ([Float], Int) = ([], 0)
        while let buffer = pw_stream_dequeue_buffer(stream) {
            let before = values.count
            buffer.pointee.buffer.map { Self.append($0.pointee, to: &values) }
            pw_stream_queue_buffer(stream, buffer)
            if values.count > before { last = values.count - before }
        }
        guard !values.isEmpty else { return }
        var time = pw_time()
        pw_stream_get_time_n(stream, &time, MemoryLayout<pw_time>.size)
        // The time is that of the last buffer's cycle.
        let ahead =
            switch target.kind {
            // Its samples are of this cycle, and played from now on.
            case .sink where !isDriver, .player: values.count - last
            // It plays them at the end of the cycle. Whether the capture gets what it played in this one or in the one
            // before depends on which of them is scheduled first, and stays so for long. So half a cycle is wrong.
            case .sink: values.count - last / 2
            // It has recorded them until now.
            case .source: values.count
            }
        let duration = UInt64(ahead / SoundSamples.channels) * 1_000_000_000 / UInt64(SoundSamples.rate)
        let now = time.now > 0 ? UInt64(time.now) : MonotonicClock.now
        handler.samples(values, now - min(now, duration))
    }

    /// Whether the captured node's clock is the graph's.
    private var isDriver: Bool { position.map { $0.pointee.clock.id == linked.load(ordering: .relaxed) } ?? false }

    fileprivate func positionChanged(_ area: UnsafeMutableRawPointer?) {
        position = area.map { UnsafePointer($0.assumingMemoryBound(to: spa_io_position.self)) }
    }

    private static func append(_ buffer: spa_buffer, to values: inout [Float]) {
        guard buffer.n_datas > 0, let data = buffer.datas?.pointee, let chunk = data.chunk?.pointee,
            let memory = data.data, UInt32(bitPattern: chunk.flags) & UInt32(SPA_CHUNK_FLAG_CORRUPTED) == 0
        else { return }
        let (offset, size) = (min(chunk.offset, data.maxsize), chunk.size)
        let length = Int(min(size, data.maxsize - offset))
        let floats = memory.advanced(by: Int(offset)).assumingMemoryBound(to: Float.self)
        let count = length / MemoryLayout<Float>.size / SoundSamples.channels * SoundSamples.channels
        values.append(contentsOf: UnsafeBufferPointer(start: floats, count: count))
    }
}

// Created once and never freed, because PipeWire keeps the pointer to the event table while a listener lives.
// `nonisolated(unsafe)` because it is never written afterwards.
nonisolated(unsafe) private let soundStreamEvents: UnsafePointer<pw_stream_events> = {
    var events = pw_stream_events()
    events.version = UInt32(PW_VERSION_STREAM_EVENTS)
    events.state_changed = { data, _, state, error in
        data.map(capture)?.stateChanged(to: state, message: error.map { String(cString: $0) })
    }
    events.io_changed = { data, id, area, _ in
        if id == SPA_IO_Position.rawValue { data.map(capture)?.positionChanged(area) }
    }
    events.process = { data in data.map(capture)?.process() }
    let table = UnsafeMutablePointer<pw_stream_events>.allocate(capacity: 1)
    table.initialize(to: events)
    return UnsafePointer(table)
}()

/// Returns the capture from a listener's data pointer. It outlives its listener, because `shutDown` removes that first.
private func capture(_ data: UnsafeMutableRawPointer) -> SoundCapture {
    Unmanaged<SoundCapture>.fromOpaque(data).takeUnretainedValue()
}
