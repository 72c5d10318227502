import CPipeWire
import Glibc

/// A source without hardware, which programs of the desktop record like a microphone.
///
/// Session managers choose the source of the highest priority as the default, unless the user has chosen another one.
final class VirtualMicrophone: @unchecked Sendable {
    // Unchecked because all mutable state is touched only in PipeWire's thread or under its lock. Its thread for data
    // reads the stream, which `pw_stream_destroy` takes away from it first.

    /// Higher than those of ALSA's sources.
    private static let priority = 2010

    /// Set when it is lost.
    let ended: Event
    private let connection: PipeWireConnection
    private let read: @Sendable (Int) -> [Float]
    private let recorded: @Sendable (Bool) -> Void
    private var stream: OpaquePointer?
    private let hook = UnsafeMutablePointer<spa_hook>.allocate(capacity: 1)

    /// Makes the source.
    ///
    /// - Parameters:
    ///   - read: Returns the next samples, as many as asked, in PipeWire's thread for data.
    ///   - recorded: Hears whether a program records, at every change.
    init(
        named name: String,
        read: @escaping @Sendable (Int) -> [Float],
        recorded: @escaping @Sendable (Bool) -> Void
    ) throws(SourceError) {
        do throws(SourceError) {
            ended = try SourceError.explainingShortage { () throws(ResourceShortage) in try Event() }
            connection = try PipeWireConnection(to: .session, isRealTime: true)
        } catch {
            hook.deallocate()
            throw error
        }
        (self.read, self.recorded) = (read, recorded)
        hook.initialize(to: spa_hook())
        let ended = ended
        connection.observe { _ in ended.set() }
        guard let failure = connection.withLock({ connect(name) }) else {
            connection.settle()
            return
        }
        remove()
        throw .unavailable(cause: "pipewire_unavailable", detail: "PipeWire refuses: \(failure). Is it running?")
    }

    deinit { hook.deallocate() }

    /// Removes the source. Must be called once, and not in PipeWire's thread.
    func remove() {
        connection.withLock {
            if let stream { pw_stream_destroy(stream) }
            stream = nil
        }
        connection.shutDown()
    }

    /// - Returns: What failed, or `nil`.
    private func connect(_ name: String) -> String? {
        let properties = [
            PW_KEY_MEDIA_TYPE: "Audio", PW_KEY_MEDIA_CLASS: "Audio/Source", PW_KEY_NODE_NAME: name,
            PW_KEY_NODE_DESCRIPTION: "Heliograph", PW_KEY_PRIORITY_SESSION: "\(Self.priority)",
        ]
        let text = properties.map { "\($0) = \"\($1)\"" }.joined(separator: " ")
        stream = pw_stream_new(connection.core, name, pw_properties_new_string(text))
        guard let stream else { return "no stream (\(String(cString: strerror(errno))))" }
        pw_stream_add_listener(stream, hook, microphoneEvents, Unmanaged.passUnretained(self).toOpaque())
        let flags = PW_STREAM_FLAG_MAP_BUFFERS.rawValue | PW_STREAM_FLAG_RT_PROCESS.rawValue
        let result = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { memory in
            var offers = [cpw_audio_format(memory.baseAddress, 1024, UInt32(SoundSamples.rate), 1)]
            return pw_stream_connect(stream, SPA_DIRECTION_OUTPUT, UInt32.max, pw_stream_flags(flags), &offers, 1)
        }
        return result < 0 ? "no connection (\(String(cString: strerror(-result))))" : nil
    }

    // MARK: - In PipeWire's threads

    fileprivate func stateChanged(to state: pw_stream_state) {
        switch state {
        case PW_STREAM_STATE_ERROR, PW_STREAM_STATE_UNCONNECTED: ended.set()
        case PW_STREAM_STATE_STREAMING: recorded(true)
        case PW_STREAM_STATE_PAUSED: recorded(false)
        default: break
        }
    }

    /// Runs in the thread for data.
    fileprivate func process() {
        guard let stream, let buffer = pw_stream_dequeue_buffer(stream) else { return }
        defer { pw_stream_queue_buffer(stream, buffer) }
        guard let data = buffer.pointee.buffer?.pointee.datas, let memory = data.pointee.data,
            let chunk = data.pointee.chunk
        else { return }
        let size = MemoryLayout<Float>.size
        let room = Int(data.pointee.maxsize) / size
        let wanted = Int(clamping: buffer.pointee.requested)
        let samples = read(wanted > 0 ? min(wanted, room) : room)
        samples.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress { memory.copyMemory(from: start, byteCount: bytes.count) }
        }
        chunk.pointee.offset = 0
        chunk.pointee.stride = Int32(size)
        chunk.pointee.size = UInt32(samples.count * size)
    }
}

// Created once and never freed, because PipeWire keeps the pointer to the event table while a listener lives.
// `nonisolated(unsafe)` because it is never written afterwards.
nonisolated(unsafe) private let microphoneEvents: UnsafePointer<pw_stream_events> = {
    var events = pw_stream_events()
    events.version = UInt32(PW_VERSION_STREAM_EVENTS)
    events.state_changed = { data, _, state, _ in data.map(microphone)?.stateChanged(to: state) }
    events.process = { data in data.map(microphone)?.process() }
    let table = UnsafeMutablePointer<pw_stream_events>.allocate(capacity: 1)
    table.initialize(to: events)
    return UnsafePointer(table)
}()

/// Returns the microphone from a listener's data pointer. It outlives its listener, because `remove` ends that first.
private func microphone(_ data: UnsafeMutableRawPointer) -> VirtualMicrophone {
    Unmanaged<VirtualMicrophone>.fromOpaque(data).takeUnretainedValue()
}
