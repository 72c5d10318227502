import Logging
import NIOCore
import Subprocess
import Synchronization

/// An agent process that this relay starts, from its spawn to its reaping.
enum AgentProcess {
    /// Most bytes kept of a line of standard error.
    private static let longestLine = 2000
    /// Between SIGTERM and SIGKILL.
    static let terminationGrace = TimeAmount.seconds(3)

    /// Runs the agent until it is gone. Cancelling the task ends it: SIGTERM, then SIGKILL, to its whole process group.
    ///
    /// - Parameters:
    ///   - logger: Gets the lines that the agent writes to its standard error. It is called off the media loop, where a log that blocks
    ///     would hold up all devices.
    ///   - started: Called with the process id, and what tells the process from later ones.
    static func run(
        _ command: AgentCommand,
        logger: Logger,
        started: @escaping @MediaLoop @Sendable (Int, ProcessIdentity?) -> Void
    ) async -> AgentExit {
        var options = PlatformOptions()
        // A group of its own keeps a terminal's Ctrl-C from the agent (the relay stops it in good order) and takes what the agent
        // started along when it is ended.
        options.processGroupID = 0
        options.teardownSequence = [
            .send(
                signal: .terminate,
                toProcessGroup: true,
                allowedDurationToNextStep: .nanoseconds(terminationGrace.nanoseconds)
            )
        ]
        // Subprocess 1.0 traps where it runs out of descriptors half-way.
        guard Descriptors.areFree(Descriptors.ofAStart) else {
            return AgentExit(cause: .notStarted("there are too few file descriptors left"))
        }
        let hasStarted = Mutex(false)
        do {
            let result = try await Subprocess.run(
                command.executable,
                arguments: Arguments(command.arguments),
                environment: environment(command.environment),
                platformOptions: options,
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
        var assembler = LineAssembler(limit: longestLine)
        var budget = LogBudget()
        var last: String?
        func log(_ line: String) {
            last = line
            budget.log(.info, to: logger, "agent: \(line)")
        }
        // Reading fails when the agent is being ended; its exit status is then what matters.
        var buffers = output.makeAsyncIterator()
        while let buffer = try? await buffers.next() {
            for line in buffer.withUnsafeBytes({ assembler.append($0) }) { log(line) }
        }
        if let line = assembler.finish() { log(line) }
        return last
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
    package enum Cause: Sendable, Equatable {
        case status(Int)
        case signal(Int)
        /// It never ran.
        case notStarted(String)
        /// It ran, and how it ended could not be learnt.
        case unknown(String)
    }

    package var cause: Cause
    /// The last line that it wrote to its standard error.
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
