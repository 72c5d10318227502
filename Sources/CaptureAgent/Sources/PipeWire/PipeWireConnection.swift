import CPipeWire
import Glibc

/// A connection to a PipeWire daemon with a thread of its own.
package final class PipeWireConnection: @unchecked Sendable {
    // Unchecked because the handles do not change, and PipeWire's are touched only in its thread or under its lock.

    /// Which daemon to speak to.
    package enum Remote: Sendable {
        /// An open connection, for example a portal's. Taken over.
        case descriptor(Int32)
        /// The session's own daemon.
        case session
    }

    /// How long the daemon may take to answer a question, ns.
    private static let answerTimeout: UInt64 = .milliseconds(3_000)
    /// The same at the end of a stream, ns: less than the relay gives an agent to end.
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
        /// The number of the last question that the daemon has answered.
        var answered: Int32 = -1
    }

    init(to remote: Remote) throws(SourceError) {
        _ = Self.initialisePipeWire
        let opened = try Self.open(remote)
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

    /// Calls `observer` in PipeWire's thread when the connection breaks, at once if it is broken already.
    func observe(_ observer: @escaping @Sendable (SourceError) -> Void) {
        let error = state.withLock { state in
            state.observer = observer
            return state.error
        }
        if let error { observer(error) }
    }

    /// What the daemon has, seen through this connection.
    func globals() throws(SourceError) -> [PipeWireGlobal] {
        let listing = PipeWireListing()
        let question = withLock { listing.begin(on: core) ? cpw_core_sync(core) : -1 }
        defer { withLock { listing.end() } }
        guard question >= 0 else { throw Self.unavailable("it refuses to list its objects") }
        try waitForAnswer(to: question, timeout: Self.answerTimeout)
        return withLock { listing.globals }
    }

    /// Waits until the daemon has done everything it was asked to do, unless it is gone or hangs.
    ///
    /// Not called in PipeWire's thread.
    func settle() {
        let question = withLock { cpw_core_sync(core) }
        if question >= 0 { try? waitForAnswer(to: question, timeout: Self.settlingTimeout) }
    }

    /// Waits until the daemon has answered a question. It answers in the order in which it is asked.
    ///
    /// - Parameter timeout: ns.
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

    /// Ends the connection. Called once, not in PipeWire's thread.
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

    /// Connects before the thread runs, so that nothing needs a lock yet.
    private static func open(_ remote: Remote) throws(SourceError) -> Opened {
        var isDescriptorTaken = false
        defer {
            if case .descriptor(let descriptor) = remote, !isDescriptorTaken { close(descriptor) }
        }
        guard let threadLoop = pw_thread_loop_new("pipewire", nil), let loop = pw_thread_loop_get_loop(threadLoop)
        else {
            throw unavailable("its event loop cannot be made")
        }
        guard let context = pw_context_new(loop, nil, 0) else {
            let reason = String(cString: strerror(errno))
            pw_thread_loop_destroy(threadLoop)
            throw unavailable(reason)
        }
        let core: OpaquePointer?
        switch remote {
        case .descriptor(let descriptor):
            // Closed by PipeWire from here on, on failure too.
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
        // Errors of other objects concern requests that have their own answers.
        guard id == 0 else { return }
        let error = SourceError.lost(cause: "pipewire_lost", detail: "The connection to PipeWire broke: \(message).")
        let observer = state.update { state in
            state.error = error
            return state.observer
        }
        observer?(error)
    }

    fileprivate func answered(_ question: Int32) {
        state.update { $0.answered = question }
    }
}

// PipeWire keeps the pointer to the event table for as long as a listener lives: it is made once and never freed.
// `nonisolated(unsafe)` because it is not written after that.
nonisolated(unsafe) private let pipeWireCoreEvents: UnsafePointer<pw_core_events> = {
    var events = pw_core_events()
    events.version = UInt32(PW_VERSION_CORE_EVENTS)
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

/// The connection behind a listener's data pointer. It outlives its listener: `shutDown` disconnects first.
private func connection(_ data: UnsafeMutableRawPointer) -> PipeWireConnection {
    Unmanaged<PipeWireConnection>.fromOpaque(data).takeUnretainedValue()
}
