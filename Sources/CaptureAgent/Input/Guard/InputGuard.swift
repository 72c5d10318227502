/// A process that releases what is held if this one is killed or stops.
///
/// After a process is killed, compositors of wlroots keep its buttons, X servers keep its keys, too, and Mutter keeps
/// its fingers. If a process is stopped, compositors of wlroots keep its keys, and Mutter keeps all, until it ends:
/// there the guard ends an agent that hangs.
///
/// While something is held, a thread tells the process so every 50 ms.
package final class InputGuard: InputGuarding, Sendable {
    private struct State: Sendable {
        var process: GuardProcess
        var held: [HeldInput.Item] = []
        /// Whether the process knows what is held.
        var isTold = true
        /// When the process is told again, in monotonic ns.
        var beat: UInt64 = 0
        /// When a process that has ended may be replaced, in monotonic ns.
        var restart: UInt64 = 0
        var isClosing = false
    }

    private static let beatInterval: UInt64 = .milliseconds(50)
    /// The pause between replacements of a process that ends by itself, in ns.
    private static let restartInterval: UInt64 = .milliseconds(1_000)

    private let command: GuardProcess.Command
    private let state: Monitor<State>
    private let thread: WorkerThread

    /// - Parameters:
    ///   - executable: The path of `capture-agent`.
    ///   - endsAgent: Whether the desktop releases some of what this process holds only when it ends.
    package convenience init(executable: String = "/proc/self/exe", endsAgent: Bool) throws(InputFailure) {
        try self.init(executable: executable, endsAgent: endsAgent, session: nil)
    }

    /// - Parameters:
    ///   - executable: The path of `capture-agent`.
    ///   - endsAgent: Whether the desktop releases some of what this process holds only when it ends.
    ///   - session: The session whose fingers the guard lifts. It is used until ``close()``.
    init(executable: String = "/proc/self/exe", endsAgent: Bool, session: MutterSession?) throws(InputFailure) {
        var words = [executable, "guard-input"]
        if endsAgent { words.append("--ends-agent") }
        if let session { words += ["--mutter-session", session.path] }
        let command = GuardProcess.Command(words: words, connection: session?.connection)
        self.command = command
        let process = try GuardProcess(command)
        let state = Monitor(State(process: process))
        self.state = state
        do throws(ResourceShortage) {
            thread = try WorkerThread(name: "input-guard") { Self.beat(state, command) }
        } catch {
            process.end()
            throw .lost(error.description)
        }
    }

    /// Tells what is held from now on. Must be called before the desktop gets what is pressed.
    package func held(_ items: [HeldInput.Item]) {
        state.update { state in
            state.held = items
            Self.tell(&state, command)
        }
    }

    /// Ends the process. It releases what is still held. Must be called once.
    package func close() {
        state.update { $0.isClosing = true }
        thread.join()
        state.withLock { $0.process }.end()
    }

    private static func beat(_ state: Monitor<State>, _ command: GuardProcess.Command) {
        state.wait { state in
            if state.isClosing { return .done(()) }
            if state.held.isEmpty, state.isTold { return .wait(until: nil) }
            if state.beat <= MonotonicClock.now { tell(&state, command) }
            return .wait(until: state.beat)
        }
    }

    /// Tells the process what is held. Replaces the process if it has ended.
    private static func tell(_ state: inout State, _ command: GuardProcess.Command) {
        let now = MonotonicClock.now
        state.beat = now + beatInterval
        let message = GuardMessage(state.held)
        var sending = state.process.send(message)
        if case .gone = sending, !state.held.isEmpty, state.restart <= now {
            state.restart = now + restartInterval
            guard let process = try? GuardProcess(command) else { return }
            state.process.end()
            state.process = process
            sending = process.send(message)
        }
        if case .noRoom = sending { state.isTold = false } else { state.isTold = true }
    }
}
