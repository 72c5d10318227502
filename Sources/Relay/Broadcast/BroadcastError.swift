package import NIOCore

/// Why a broadcast did not start.
package enum BroadcastError: Error, Sendable, Equatable {
    /// No agent was streaming in time; `detail` is what the agent said last of its source.
    case agentTimeout(after: TimeAmount, saidHello: Bool, detail: String? = nil)
    case agentExited(AgentExit)
    /// The agent runs and cannot capture.
    case sourceUnavailable(cause: String?, detail: String?)
    /// It runs with another source.
    case running(source: String)
    /// It was stopped while it started.
    case stopped
    /// The relay is shutting down.
    case draining
}
