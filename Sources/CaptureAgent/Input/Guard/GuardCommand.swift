import Glibc
import Program

/// The process `capture-agent guard-input`.
package enum GuardCommand {
    /// How long one attempt to release may take, in seconds. Then the process ends.
    private static let attemptTime: UInt32 = 30

    /// Runs until the agent ends, whose end of the connection is standard input.
    ///
    /// - Parameters:
    ///   - endsAgent: Whether an agent that hangs is ended. The relay starts another one.
    ///   - mutterSession: The path of the agent's session, whose connection is descriptor 3; `nil` for other desktops.
    package static func run(endsAgent: Bool, mutterSession: String?) {
        // The agent ends first, and may leave something to release.
        for number in [SIGTERM, SIGINT, SIGHUP, SIGPIPE] { signal(number, SIG_IGN) }
        let agent = getppid()
        let endAgent = {
            // While it is the parent, no other process can have its number.
            if getppid() == agent { kill(agent, SIGKILL) }
        }
        let session = mutterSession.map { MutterSession(connection: 3, path: $0) }
        let loop = GuardLoop(
            descriptor: STDIN_FILENO,
            release: { items in session?.release(items) ?? release(items) },
            endAgent: endsAgent ? endAgent : nil
        )
        loop.run()
        // The agent may have lifted the last finger just before it ended.
        session?.settle()
    }

    /// Releases on the desktop that the environment names, by new devices. A desktop that is gone holds nothing.
    ///
    /// - Returns: `false` if the desktop does not answer.
    private static func release(_ items: [HeldInput.Item]) -> Bool {
        // An X server that hangs accepts connections, and a program that connects waits without a limit.
        alarm(attemptTime)
        defer { alarm(0) }
        do throws(SourceError) {
            if EnvironmentVariable.isSet("WAYLAND_DISPLAY") {
                try WlrootsRelease.run(items)
            } else if EnvironmentVariable.isSet("DISPLAY") {
                try X11Release.run(items)
            }
            return true
        } catch {
            if case .timeout = error { return false }
            return true
        }
    }
}
