package import HeliographAPI
package import NIOCore
package import Wire

extension AgentLifecycle {
    package enum State: String, Sendable, CaseIterable {
        /// Nothing runs.
        case idle
        /// A start is waiting for an agent that streams.
        case starting
        /// An agent is linked.
        case live
        /// The agent was there and is expected back.
        case away
        /// Waiting for agent and link to be gone.
        case stopping
    }

    package enum Action: Sendable, Equatable {
        case spawn(SourceRequest)
        /// SIGTERM, and SIGKILL when that does not help.
        case terminateProcess
        case sendStop(reason: String)
        case closeLink
        /// The link of an agent that hangs is lost from now on.
        case abandonLink
        case startSucceeded(StartTimings)
        case startFailed(BroadcastError)
        case stopped
    }

    package enum StartDecision: Sendable, Equatable {
        case alreadyRunning
        /// This call begins the start. The answer comes as ``Action/startSucceeded(_:)`` or ``Action/startFailed(_:)``, at its timeout
        /// at the latest, once nothing is left.
        case lead([Action])
        /// A start is under way. The answer comes in the same way; the caller minds its own timeout.
        case join
        /// Ask again after ``Action/stopped``.
        case waitForStop
        case refuse(BroadcastError)
    }

    package struct Policy: Sendable {
        package var defaultSource: SourceRequest
        package var returnGrace: TimeAmount
        package var stopGrace: TimeAmount
        /// How long a restarted agent may take to say HELLO.
        package var restartTimeout = TimeAmount.seconds(15)
        package var backoff: RestartBackoff.Policy
        /// Whether a broadcast of this source goes on, and keeps trying, when its start finds the source lost.
        package var outlivesLostSource: @Sendable (SourceRequest) -> Bool

        package init(
            defaultSource: SourceRequest,
            returnGrace: TimeAmount,
            stopGrace: TimeAmount,
            backoff: RestartBackoff.Policy,
            outlivesLostSource: @escaping @Sendable (SourceRequest) -> Bool = { _ in false }
        ) {
            self.defaultSource = defaultSource
            self.returnGrace = returnGrace
            self.stopGrace = stopGrace
            self.backoff = backoff
            self.outlivesLostSource = outlivesLostSource
        }
    }

    /// The agent that is linked.
    package struct Agent: Sendable, Equatable {
        package var hello: Hello
        package var connected: NIODeadline
        package var status: SourceStatus?
    }
}
