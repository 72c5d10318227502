import CPipeWire
import Glibc

/// A connection to a PipeWire daemon, with its own thread.
package final class PipeWireConnection: @unchecked Sendable {
    // Unchecked because the handles do not change, and PipeWire's are touched only in its thread or under its lock.

    /// Which daemon to connect to.
    package enum Remote: Sendable {
        /// An open connection, for example from a portal. This object takes ownership.
        case descriptor(Int32)
        /// The session's own daemon.
        case session
    }

    /// How long the daemon may take to answer, in ns.
    private static let answerTimeout: UInt64 = .milliseconds(3_000)
    /// How long it may take at the end of a stream, in ns. This is less than the relay gives an agent to end.
    private static let settlingTimeout: UInt64 = .milliseconds(2_000)

    let loop: UnsafeMutablePointer<pw_loop>
    let core: OpaquePointer
    private let threadLoop: OpaquePointer
    private let context: OpaquePointer
    private let hook = UnsafeMutablePointer<spa_hook>.allocate(capacity: 1)
    private let state = Monitor(State())

    private struct State: Sendable {
        var error: SourceError?
        var observer: (@Sendable (SourceError) -> Void)?
        /// The number of the last request that the daemon has answered.
        var answered: Int32 = -1
        /// The fewest samples that the daemon's graph handles at once; `nil` if it does not say.
        var leastQuantum: Int?
    }

    /// - Parameter isRealTime: Whether its thread for data runs in real time if the system allows that, by rtkit or
    ///   RLIMIT_RTPRIO. A busy machine makes others late, and PipeWire's graph does not wait for them.
    init(to remote: Remote, isRealTime: Bool = false) throws(SourceError) {
        _ = Self.initialisePipeWire
        let opened = try Self.open(remote, isRealTime: isRealTime)
        (threadLoop, loop, context, core) = opened
        hook.initialize(to: spa_hook())
        cpw_core_add_listener(core, hook, pipeWireCoreEvents, Unmanaged.passUnretained(self).toOpaque())
        guard pw_thread_loop_start(threadLoop) == 0 else {
            shutDown()
            throw Self.unavailable("its thread cannot be started")
        }
    }

    deinit {
        hook.deallocate()
    }

    /// Runs `body` while PipeWire's thread waits.
    func withLock<Result>(_ body: () -> Result) -> Result {
        pw_thread_loop_lock(threadLoop)
        defer { pw_thread_loop_unlock(threadLoop) }
        return body()
    }

    /// Calls `observer` in PipeWire's thread when the connection breaks, or at once if it is already broken.
    func observe(_ observer: @escaping @Sendable (SourceError) -> Void) {
        let error = state.withLock { state in
            state.observer = observer
            return state.error
        }
        if let error { observer(error) }
    }

    /// Returns the daemon's objects that are visible through this connection.
    func globals() throws(SourceError) -> [PipeWireGlobal] {
        let listing = PipeWireListing()
        let question = withLock { listing.begin(on: core) ? cpw_core_sync(core) : -1 }
        defer { withLock { listing.end() } }
        guard question >= 0 else { throw Self.unavailable("it refuses to list its objects") }
        try waitForAnswer(to: question, timeout: Self.answerTimeout)
        return withLock { listing.globals }
    }

    /// The fewest samples that the daemon's graph handles at once, known after ``globals()``; `nil` if it does not say.
    var leastQuantum: Int? { state.withLock { $0.leastQuantum } }

    /// Waits until the daemon has handled all earlier requests, unless it is gone or hangs.
    ///
    /// Must not be called in PipeWire's thread.
    func settle() {
        let question = withLock { cpw_core_sync(core) }
        if question >= 0 { try? waitForAnswer(to: question, timeout: Self.settlingTimeout) }
    }

    /// Waits until the daemon has answered a request. It answers in order.
    ///
    /// - Parameter timeout: In ns.
    private func waitForAnswer(to question: Int32, timeout: UInt64) throws(SourceError) {
        let deadline = MonotonicClock.now + timeout
        let failure: SourceError? = state.wait { state in
            if let error = state.error { return .done(error) }
            if state.answered == question { return .done(nil) }
            if MonotonicClock.now < deadline { return .wait(until: deadline) }
            return .done(.timeout(cause: "pipewire_timeout", detail: "PipeWire does not answer: restart it."))
        }
        if let failure { throw failure }
    }

    /// Ends the connection. Must be called once, and not in PipeWire's thread.
    func shutDown() {
        withLock {
            pw_core_disconnect(core)
            pw_context_destroy(context)
        }
        pw_thread_loop_stop(threadLoop)
        pw_thread_loop_destroy(threadLoop)
    }

    // MARK: - Opening

    private static let initialisePipeWire: Void = pw_init(nil, nil)

    private typealias Opened = (
        threadLoop: OpaquePointer, loop: UnsafeMutablePointer<pw_loop>, context: OpaquePointer, core: OpaquePointer
    )

    /// Connects before the thread runs, so that no lock is needed yet.
    private static func open(_ remote: Remote, isRealTime: Bool) throws(SourceError) -> Opened {
        var isDescriptorTaken = false
        defer {
            if case .descriptor(let descriptor) = remote, !isDescriptorTaken { close(descriptor) }
        }
        guard let threadLoop = pw_thread_loop_new("pipewire", nil), let loop = pw_thread_loop_get_loop(threadLoop)
        else {
            throw unavailable("its event loop cannot be made")
        }
        // Releases from 1.4 on have no file of that name, because all clients run in real time.
        let settings = isRealTime ? pw_properties_new_string("\(PW_KEY_CONFIG_NAME) = client-rt.conf") : nil
        guard let context = pw_context_new(loop, settings, 0) ?? pw_context_new(loop, nil, 0) else {
            let reason = String(cString: strerror(errno))
            pw_thread_loop_destroy(threadLoop)
            throw unavailable(reason)
        }
        let core: OpaquePointer?
        switch remote {
        case .descriptor(let descriptor):
            // From here on PipeWire closes the descriptor, even if connecting fails.
            isDescriptorTaken = true
            core = pw_context_connect_fd(context, descriptor, nil, 0)
        case .session:
            core = pw_context_connect(context, nil, 0)
        }
        guard let core else {
            let reason = String(cString: strerror(errno))
            pw_context_destroy(context)
            pw_thread_loop_destroy(threadLoop)
            throw unavailable(reason)
        }
        return (threadLoop, loop, context, core)
    }

    private static func unavailable(_ reason: String) -> SourceError {
        .unavailable(
            cause: "pipewire_unavailable",
            detail: "There is no connection to PipeWire (\(reason)): start pipewire in the desktop's session."
        )
    }

    // MARK: - In PipeWire's thread

    fileprivate func failed(id: UInt32, message: String) {
        // Errors of other objects belong to requests that have their own answers.
        guard id == 0 else { return }
        let error = SourceError.lost(cause: "pipewire_lost", detail: "The connection to PipeWire broke: \(message).")
        let observer = state.update { state in
            state.error = error
            return state.observer
        }
        observer?(error)
    }

    fileprivate func introduced(_ info: pw_core_info) {
        guard let text = info.props.flatMap({ spa_dict_lookup($0, "default.clock.min-quantum") }) else { return }
        state.update { $0.leastQuantum = Int(String(cString: text)) }
    }

    fileprivate func answered(_ question: Int32) {
        state.update { $0.answered = question }
    }
}

// Created once and never freed, because PipeWire keeps the pointer to the event table while a listener lives.
// `nonisolated(unsafe)` because it is never written afterwards.
nonisolated(unsafe) private let pipeWireCoreEvents: UnsafePointer<pw_core_events> = {
    var events = pw_core_events()
    events.version = UInt32(PW_VERSION_CORE_EVENTS)
    events.info = { data, info in
        guard let data, let info else { return }
        connection(data).introduced(info.pointee)
    }
    events.error = { data, id, _, result, message in
        let text = message.map { String(cString: $0) } ?? String(cString: strerror(-result))
        data.map(connection)?.failed(id: id, message: text)
    }
    events.done = { data, id, sequence in
        if id == 0 { data.map(connection)?.answered(sequence) }
    }
    let table = UnsafeMutablePointer<pw_core_events>.allocate(capacity: 1)
    table.initialize(to: events)
    return UnsafePointer(table)
}()

/// Returns the connection from a listener's data pointer. It outlives its listener, because `shutDown` disconnects
/// first.
private func connection(_ data: UnsafeMutableRawPointer) -> PipeWireConnection {
    Unmanaged<PipeWireConnection>.fromOpaque(data).takeUnretainedValue()
}
