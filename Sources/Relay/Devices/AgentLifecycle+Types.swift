package import HeliographAPI
package import NIOCore
package import Wire

extension AgentLifecycle {
    /// The states of an agent, as users see them.
    package enum State: String, Sendable, CaseIterable {
        /// No agent runs.
        case idle
        /// A start waits for an agent that streams.
        case starting
        /// An agent is linked.
        case live
        /// The agent was linked and is expected back.
        case away
        /// Waiting until agent and link are gone.
        case stopping
    }

    /// What to perform after an event.
    package enum Action: Sendable, Equatable {
        case spawn(SourceRequest)
        /// Send SIGTERM, then SIGKILL if the process does not end in time.
        case terminateProcess
        case sendStop(reason: String)
        case closeLink
        /// Give up the link of an agent that hangs.
        case abandonLink
        case startSucceeded(StartTimings)
        case startFailed(BroadcastError)
        case stopped
    }

    /// The reply to a request for a start.
    package enum StartDecision: Sendable, Equatable {
        case alreadyRunning
        /// This call begins the start. The answer comes as ``Action/startSucceeded(_:)`` or ``Action/startFailed(_:)``.
        /// A failed start answers at its timeout at the latest, after everything is cleaned up.
        case lead([Action])
        /// A start is already pending and answers in the same way. The caller handles its own timeout.
        case join
        /// Ask again after ``Action/stopped``.
        case waitForStop
        case refuse(BroadcastError)
    }

    /// The settings of an agent's lifecycle.
    package struct Policy: Sendable {
        package var defaultSource: SourceRequest
        package var returnGrace: TimeAmount
        package var stopGrace: TimeAmount
        /// The time limit for a restarted agent to send HELLO.
        package var restartTimeout = TimeAmount.seconds(15)
        package var backoff: RestartBackoff.Policy
        /// Whether a broadcast of this source continues, and keeps trying, if its start finds the source lost.
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

    /// A linked agent.
    package struct Agent: Sendable, Equatable {
        package var hello: Hello
        package var connected: NIODeadline
        package var status: SourceStatus?
    }
}
