import Glibc

/// The guard as a child process, `capture-agent guard-input`, whose standard input is its end of the connection.
final class GuardProcess: Sendable {
    struct Command: Sendable {
        var words: [String]
        /// Its descriptor 3; `nil` for none.
        var connection: Int32?
    }

    private let pid: pid_t
    private let socket: GuardSocket

    init(_ command: Command) throws(InputFailure) {
        guard let (own, other) = GuardSocket.pair() else { throw Self.notStarted(errno) }
        defer { other.close() }
        var pid: pid_t = 0
        let result = Self.spawn(command.words, input: other.descriptor, descriptor: command.connection, &pid)
        guard result == 0 else {
            own.close()
            throw Self.notStarted(result)
        }
        self.pid = pid
        socket = own
    }

    func send(_ message: GuardMessage) -> GuardSocket.Sending { socket.send(message) }

    /// Has the process end, without waiting: it first releases what it was last told, and a desktop may take long.
    /// Must be called once.
    func end() {
        socket.close()
        let pid = pid
        let reap: @Sendable () -> Void = {
            while waitpid(pid, nil, 0) < 0, errno == EINTR {}
        }
        // Without a thread, the process is reaped when the agent ends.
        (try? WorkerThread(name: "guard-end", reap))?.detach()
    }

    private static func notStarted(_ reason: Int32) -> InputFailure {
        .lost(
            "The process that releases keys if the agent dies cannot be started: \(String(cString: strerror(reason)))."
        )
    }

    /// Starts a guard's process, with standard output and standard error to nowhere: the relay waits for the end of the
    /// agent's standard error.
    ///
    /// - Parameters:
    ///   - input: Its standard input.
    ///   - descriptor: Its descriptor 3; `nil` for none.
    /// - Returns: 0, or the error number.
    static func spawn(_ words: [String], input: Int32, descriptor: Int32?, _ pid: inout pid_t) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        if let descriptor { posix_spawn_file_actions_adddup2(&actions, descriptor, 3) }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Its own group, so that a terminal's Ctrl-C and a signal to the agent's group do not end it.
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        return posix_spawn(&pid, words.first ?? "", &actions, &attributes, &arguments, environ)
    }
}
