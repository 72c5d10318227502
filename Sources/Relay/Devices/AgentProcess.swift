import Logging
import NIOCore
import Program
import Subprocess
import Synchronization

/// An agent process that this relay starts, from its spawn until it is reaped.
enum AgentProcess {
    /// Most bytes kept of a line of standard error.
    private static let longestLine = 2000
    /// The time between SIGTERM and SIGKILL.
    static let terminationGrace = TimeAmount.seconds(3)

    /// Runs the agent until it ends. Cancelling the task sends SIGTERM, then SIGKILL, to its whole process group.
    ///
    /// - Parameters:
    ///   - logger: Gets the lines of the agent's standard error. It is called off the media loop, where a blocking log
    ///   would hold up all devices.
    ///   - started: Called with the process id, and the identity that distinguishes the process from later ones.
    static func run(
        _ command: AgentCommand,
        logger: Logger,
        started: @escaping @MediaLoop @Sendable (Int, ProcessIdentity?) -> Void
    ) async -> AgentExit {
        // Subprocess 1.0 traps if it runs out of descriptors halfway.
        guard Descriptors.areFree(Descriptors.ofAStart) else {
            return AgentExit(cause: .notStarted("not enough file descriptors are left"))
        }
        let hasStarted = Mutex(false)
        do {
            let result = try await Subprocess.run(
                command.executable,
                arguments: Arguments(command.arguments),
                environment: environment(command.environment),
                platformOptions: .ownGroup(grace: terminationGrace),
                input: .none,
                output: .discarded,
                error: .sequence
            ) { execution in
                hasStarted.withLock { $0 = true }
                let pid = execution.processIdentifier.value
                await started(Int(pid), ProcessIdentity(pid: pid))
                return await forward(execution.standardError, to: logger)
            }
            return AgentExit(cause: cause(of: result.terminationStatus), lastLine: result.closureResult)
        } catch {
            return AgentExit(cause: hasStarted.withLock { $0 } ? .unknown("\(error)") : .notStarted("\(error)"))
        }
    }

    private static func environment(_ values: [String: String]) -> Environment {
        let pairs = values.map { (Environment.Key(stringLiteral: $0.key), Optional($0.value)) }
        return .inherit.updating(Dictionary(pairs) { $1 })
    }

    /// Logs the lines of `output` until it ends, and returns the last one.
    private static func forward(_ output: SubprocessOutputSequence, to logger: Logger) async -> String? {
        var budget = LogBudget()
        return await output.forEachLine(limit: longestLine) { budget.log(.info, to: logger, "agent: \($0)") }
    }

    private static func cause(of status: TerminationStatus) -> AgentExit.Cause {
        switch status {
        case .exited(let code): .status(Int(code))
        case .signaled(let signal): .signal(Int(signal))
        }
    }
}

/// How an agent process ended.
package struct AgentExit: Sendable, Equatable, CustomStringConvertible {
    /// The reason for the end.
    package enum Cause: Sendable, Equatable {
        case status(Int)
        case signal(Int)
        /// The process never ran.
        case notStarted(String)
        /// The process ran, and its exit status is unknown.
        case unknown(String)
    }

    package var cause: Cause
    /// The last line of its standard error.
    package var lastLine: String?

    package init(cause: Cause, lastLine: String? = nil) {
        self.cause = cause
        self.lastLine = lastLine
    }

    package var description: String {
        let cause =
            switch cause {
            case .status(let status): "it exited with status \(status)"
            case .signal(let signal): "signal \(signal) ended it"
            case .notStarted(let reason): "it could not be started: \(reason)"
            case .unknown(let reason): "how it ended is not known: \(reason)"
            }
        return lastLine.map { "\(cause); its last words: \($0)" } ?? cause
    }
}
