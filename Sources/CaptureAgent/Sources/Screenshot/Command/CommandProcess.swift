import CLinux
import Glibc

/// A child process with pipes from its standard output and its standard error.
final class CommandProcess {
    /// The reading ends of the pipes, which do not block.
    let output: Int32
    let errors: Int32
    /// A descriptor that is readable once the process has ended.
    let ending: Int32

    private let pid: pid_t

    /// - Parameter words: The program (a path, or a name in PATH) and its arguments.
    init(_ words: [String]) throws(CommandError) {
        var (outputEnds, errorEnds): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        var isStarted = false
        defer {
            for end in [outputEnds[1], errorEnds[1]] + (isStarted ? [] : [outputEnds[0], errorEnds[0]]) where end >= 0 {
                close(end)
            }
        }
        guard clinux_pipe(&outputEnds) == 0, clinux_pipe(&errorEnds) == 0 else { throw Self.notStarted(errno) }
        var pid: pid_t = 0
        let result = Self.spawn(words, output: outputEnds[1], errors: errorEnds[1], &pid)
        guard result == 0 else { throw Self.notStarted(result) }
        self.pid = pid
        ending = clinux_pidfd(pid)
        (output, errors) = (outputEnds[0], errorEnds[0])
        isStarted = true
        guard ending >= 0 else {
            let reason = errno
            end()
            throw Self.notStarted(reason)
        }
    }

    /// Returns how the process failed, or `nil` if it succeeded. Call it once the process has ended.
    func failure() -> String? {
        var information = siginfo_t()
        guard waitid(P_PID, id_t(pid), &information, WEXITED | WNOHANG | WNOWAIT) == 0 else { return nil }
        let status = information._sifields._sigchld.si_status
        switch information.si_code {
        case Int32(CLD_EXITED): return status == 0 ? nil : "it exited with status \(status)"
        default: return "it was ended by signal \(status)"
        }
    }

    /// Ends the process and the rest of its process group, and reaps it. Must be called once.
    func end() {
        kill(-pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        for descriptor in [output, errors, ending] where descriptor >= 0 { close(descriptor) }
    }

    private static func notStarted(_ reason: Int32) -> CommandError {
        CommandError(
            cause: "command_not_started",
            reason: "it cannot be started (\(String(cString: strerror(reason))))"
        )
    }

    /// Starts the process.
    ///
    /// - Returns: 0, or the error number.
    private static func spawn(_ words: [String], output: Int32, errors: Int32, _ pid: inout pid_t) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The child must not inherit blocked or ignored signals.
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
        return posix_spawnp(&pid, words.first ?? "", &actions, &attributes, &arguments, environ)
    }
}
