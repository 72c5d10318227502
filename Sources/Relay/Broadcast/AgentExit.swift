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
