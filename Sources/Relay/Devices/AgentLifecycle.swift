package import HeliographAPI
package import NIOCore
package import Wire

/// The state machine of one of a device's agents, the broadcast's or the standby.
///
/// Its mutators take what happened and return what to perform; ``wake`` says when ``timerFired(now:)`` is due. It
/// tracks at most one agent process (spawned by this relay or a previous one) and at most one link. They are separate
/// because an agent may be started by hand.
package struct AgentLifecycle: Sendable {
    /// A start under way.
    private struct Attempt: Sendable {
        var timings: StartTimings.Recorder
        var deadline: NIODeadline
        var timeout: TimeAmount
        /// Whether the time stops while the desktop waits for a person's answer.
        var outlastsDialogs: Bool
        /// When to spawn; `nil` if that is done, or the agent needs no spawn.
        var spawnAt: NIODeadline?
        /// Whether the broadcast was supervised before. If so, the start only waits for it, and a failed start ends
        /// nothing.
        var isGuest: Bool
        /// When a guest's failed start gives up on the process without a link; `nil` if it is linked or being
        /// terminated.
        var patience: NIODeadline?

        /// Stops the time while a dialog is open, and starts it anew afterwards.
        mutating func follow(_ status: SourceStatus?, now: NIODeadline) {
            guard outlastsDialogs else { return }
            if status?.cause == SourceStatus.waitingForConsent {
                deadline = .distantFuture
            } else if deadline == .distantFuture {
                deadline = now + timeout
            }
        }
    }

    /// The wait for an agent that was lost.
    private struct Absence: Sendable {
        /// When to give up waiting for the process without a link, or for the external agent.
        var patience: NIODeadline?
        var respawnAt: NIODeadline?
    }

    /// A stop under way.
    private struct Stopping: Sendable {
        var failure: BroadcastError?
        /// When to terminate an agent that has not left by itself.
        var forceAt: NIODeadline?
    }

    /// The states with their details.
    private enum Phase: Sendable {
        case idle
        case starting(Attempt)
        case live
        case away(Absence)
        case stopping(Stopping)
    }

    /// The policy. It may change at any time; what is under way continues under the former one.
    package var policy: Policy
    private var phase = Phase.idle
    private var backoff: RestartBackoff
    /// Whether an agent process exists, from its spawn or adoption until it ends.
    private var processExists = false
    /// Whether a lost agent is replaced: `true` from the first spawn or adoption until the stop.
    private var supervised = false
    package var isSupervised: Bool { supervised }

    /// When ``state`` last changed.
    package private(set) var since: NIODeadline
    package private(set) var agent: Agent?
    package private(set) var processID: Int?
    package private(set) var source: SourceRequest
    /// How long the broadcast may be without a session before it ends, in s; `nil` for no limit. The longest that its
    /// starts asked for.
    package private(set) var ttl: Int?
    package private(set) var restarts = 0
    package private(set) var lastExit: AgentExit?

    package init(policy: Policy, now: NIODeadline) {
        self.policy = policy
        backoff = RestartBackoff(policy: policy.backoff)
        source = policy.defaultSource
        since = now
    }

    package var state: State {
        switch phase {
        case .idle: .idle
        case .starting: .starting
        case .live: .live
        case .away: .away
        case .stopping: .stopping
        }
    }

    /// Whether the relay has an agent process that it started or adopted.
    package var isManaged: Bool { processExists }

    /// Whether an agent may link now. An agent that is already linked must be lost first.
    package var acceptsAgent: Bool { state != .stopping }

    /// When ``timerFired(now:)`` is due next.
    package var wake: NIODeadline? {
        switch phase {
        case .idle, .live: nil
        case .starting(let attempt):
            [attempt.spawnAt, attempt.deadline].compactMap { $0 == .distantFuture ? nil : $0 }.min()
        case .away(let absence): [absence.patience, absence.respawnAt].compactMap { $0 }.min()
        case .stopping(let stopping): stopping.forceAt
        }
    }

    // MARK: Requests

    /// Handles a call that starts the agent, with a new source or the default one.
    ///
    /// - Parameter outlastsDialogs: Whether the timeout does not count while the desktop waits for a person's answer.
    package mutating func startRequested(
        source requested: SourceRequest?,
        timeout: TimeAmount,
        outlastsDialogs: Bool = false,
        ttl: Int? = nil,
        now: NIODeadline
    ) -> StartDecision {
        if case .stopping = phase { return .waitForStop }
        if state != .idle, let requested, conflicts(requested) { return .refuse(.running(source: runningSource)) }
        let isFirst = state == .idle
        self.ttl = ttl.flatMap { wanted in isFirst ? wanted : self.ttl.map { max($0, wanted) } }
        switch phase {
        case .starting:
            return .join
        case .live:
            switch agent?.status?.state {
            case .streaming, .paused:
                return .alreadyRunning
            case .lost:
                return .refuse(.sourceUnavailable(cause: agent?.status?.cause, detail: agent?.status?.detail))
            case .opening, nil:
                return .lead(begin(spawnAt: nil, timeout: timeout, outlastsDialogs, now: now))
            }
        case .away(let absence):
            if !supervised { source = requested ?? policy.defaultSource }
            guard supervised else {
                return .lead(begin(spawnAt: absence.patience, timeout: timeout, outlastsDialogs, now: now))
            }
            let spawnAt = absence.respawnAt.map { _ in now }
            return .lead(
                begin(spawnAt: spawnAt, patience: absence.patience, timeout: timeout, outlastsDialogs, now: now)
            )
        case .idle, .stopping:
            source = requested ?? policy.defaultSource
            restarts = 0
            lastExit = nil
            backoff = RestartBackoff(policy: policy.backoff)
            return .lead(begin(spawnAt: now, timeout: timeout, outlastsDialogs, now: now))
        }
    }

    /// Begins to keep an agent running although no caller waits for it. Does nothing unless idle.
    ///
    /// - Parameters:
    ///   - grace: How long to wait for an agent that may already run before one is started.
    ///   - pid: The agent process that already runs; `nil` if none is known.
    package mutating func superviseRequested(
        source requested: SourceRequest,
        ttl: Int? = nil,
        grace: TimeAmount = .zero,
        pid: Int? = nil,
        now: NIODeadline
    ) -> [Action] {
        guard case .idle = phase else { return [] }
        restarts = 0
        lastExit = nil
        backoff = RestartBackoff(policy: policy.backoff)
        source = requested
        self.ttl = ttl
        if let pid {
            processExists = true
            processID = pid
            supervised = true
            enter(.away(Absence(patience: now + grace)), now: now)
            return []
        }
        guard grace > .zero else {
            enter(.away(Absence(patience: now + policy.restartTimeout)), now: now)
            return [spawn()]
        }
        supervised = true
        enter(.away(Absence(respawnAt: now + grace)), now: now)
        return []
    }

    /// Handles a call that stops the agent.
    package mutating func stopRequested(reason: String, now: NIODeadline) -> [Action] {
        switch phase {
        case .idle: [.stopped]
        case .stopping: []
        case .starting: [.startFailed(.stopped)] + beginStopping(failure: nil, reason: reason, now: now)
        case .live, .away: beginStopping(failure: nil, reason: reason, now: now)
        }
    }

    // MARK: The agent's link

    /// Records that an agent was admitted. A pending start still waits for its source.
    package mutating func agentConnected(_ hello: Hello, now: NIODeadline) -> [Action] {
        agent = Agent(hello: hello, connected: now)
        switch phase {
        case .starting(var attempt):
            attempt.timings.hello = now
            attempt.spawnAt = nil
            attempt.patience = nil
            phase = .starting(attempt)
        case .idle, .live, .away:
            enter(.live, now: now)
        case .stopping:
            return [.sendStop(reason: "the broadcast is being stopped"), .closeLink]
        }
        return []
    }

    /// Records the state of the agent's source, which may end a start.
    package mutating func sourceReported(_ status: SourceStatus, now: NIODeadline) -> [Action] {
        agent?.status = status
        guard case .starting(var attempt) = phase else { return [] }
        switch status.state {
        case .opening, .paused:
            attempt.follow(status, now: now)
            phase = .starting(attempt)
            return []
        case .streaming:
            attempt.timings.agent = status.timings ?? [:]
            enter(.live, now: now)
            return [.startSucceeded(attempt.timings.finished(now: now))]
        case .lost:
            return fail(.sourceUnavailable(cause: status.cause, detail: status.detail), now: now)
        }
    }

    /// Records that the agent's link is lost.
    package mutating func linkLost(now: NIODeadline) -> [Action] {
        guard let lost = agent else { return [] }
        agent = nil
        switch phase {
        case .live:
            backoff.wasLive(from: lost.connected, to: now)
            if supervised, !processExists {
                enter(.away(Absence(respawnAt: now + backoff.delay())), now: now)
            } else {
                enter(.away(Absence(patience: now + policy.returnGrace)), now: now)
            }
        case .starting(var attempt):
            attempt.follow(nil, now: now)
            if processExists {
                attempt.patience = now + policy.returnGrace
            } else if supervised {
                // The process ended before its link, so only a new spawn brings an agent.
                attempt.spawnAt = now + backoff.delay()
            } else {
                // A hand-started agent left while a start waited for it to stream. It may return; if not, one is
                // spawned.
                attempt.spawnAt = now + policy.returnGrace
            }
            phase = .starting(attempt)
        case .stopping:
            return finishStopping(now: now)
        case .idle, .away:
            break
        }
        return []
    }

    /// Handles a linked agent that gives no pictures although its link is healthy.
    ///
    /// A supervised agent is terminated and replaced as after any loss. An agent that was started by hand is left to
    /// its user.
    package mutating func agentHung() -> [Action] {
        guard case .live = phase, agent != nil, supervised else { return [] }
        return [.sendStop(reason: "its encoder hangs"), .abandonLink] + (processExists ? [.terminateProcess] : [])
    }

    // MARK: The agent's process

    /// Records that the spawned process runs.
    package mutating func processStarted(pid: Int, now: NIODeadline) {
        processID = pid
        guard case .starting(var attempt) = phase else { return }
        attempt.timings.process = now
        phase = .starting(attempt)
    }

    /// Records that the agent's process ended.
    package mutating func processExited(_ exit: AgentExit, now: NIODeadline) -> [Action] {
        let pid = processID
        processExists = false
        processID = nil
        lastExit = exit
        switch phase {
        case .starting(var attempt) where attempt.isGuest && attempt.patience == nil && agent == nil:
            // The process was already being terminated, and the start waited for its exit.
            attempt.spawnAt = now
            phase = .starting(attempt)
        case .starting where agent == nil || agent.map({ Int($0.hello.pid) }) == pid:
            return fail(.agentExited(exit), now: now)
        case .away:
            phase = .away(Absence(respawnAt: now + backoff.delay()))
        case .stopping:
            return finishStopping(now: now)
        case .idle, .starting, .live:
            break
        }
        return []
    }

    // MARK: Time

    package mutating func timerFired(now: NIODeadline) -> [Action] {
        switch phase {
        case .idle, .live:
            return []
        case .starting(var attempt):
            if now >= attempt.deadline {
                return fail(
                    .agentTimeout(after: attempt.timeout, saidHello: agent != nil, detail: agent?.status?.detail),
                    now: now
                )
            }
            guard let spawnAt = attempt.spawnAt, now >= spawnAt else { return [] }
            attempt.spawnAt = nil
            attempt.patience = now + policy.restartTimeout
            phase = .starting(attempt)
            return [spawn()]
        case .away(let absence):
            if let respawnAt = absence.respawnAt, now >= respawnAt {
                phase = .away(Absence(patience: now + policy.restartTimeout))
                return [spawn()]
            }
            guard let patience = absence.patience, now >= patience else { return [] }
            guard processExists else {
                enter(.idle, now: now)
                return []
            }
            // A process without a link is useless. Its exit schedules the restart.
            phase = .away(Absence())
            return [.terminateProcess]
        case .stopping(var stopping):
            guard let forceAt = stopping.forceAt, now >= forceAt else { return [] }
            stopping.forceAt = nil
            phase = .stopping(stopping)
            return (processExists ? [.terminateProcess] : []) + (agent != nil ? [.closeLink] : [])
        }
    }
}

// MARK: - Transitions

extension AgentLifecycle {
    private mutating func enter(_ next: Phase, now: NIODeadline) {
        phase = next
        since = now
        if case .idle = next {
            supervised = false
            source = policy.defaultSource
            ttl = nil
        }
    }

    private mutating func begin(
        spawnAt: NIODeadline?,
        patience: NIODeadline? = nil,
        timeout: TimeAmount,
        _ outlastsDialogs: Bool,
        now: NIODeadline
    ) -> [Action] {
        var attempt = Attempt(
            timings: StartTimings.Recorder(start: now),
            deadline: now + timeout,
            timeout: timeout,
            outlastsDialogs: outlastsDialogs,
            spawnAt: spawnAt,
            isGuest: supervised,
            patience: patience
        )
        attempt.timings.hello = agent == nil ? nil : now
        attempt.follow(agent?.status, now: now)
        guard let spawnAt, spawnAt <= now else {
            enter(.starting(attempt), now: now)
            return []
        }
        attempt.spawnAt = nil
        attempt.patience = now + policy.restartTimeout
        enter(.starting(attempt), now: now)
        return [spawn()]
    }

    private mutating func spawn() -> Action {
        if supervised { restarts += 1 }
        processExists = true
        supervised = true
        return .spawn(source)
    }

    /// Ends a failed start and cleans up after it. It does not end what existed before: an agent that the relay did not
    /// start, or a supervised broadcast.
    private mutating func fail(_ error: BroadcastError, now: NIODeadline) -> [Action] {
        guard case .starting(let attempt) = phase else { return [] }
        if attempt.isGuest {
            if agent != nil {
                enter(.live, now: now)
            } else if processExists {
                enter(.away(Absence(patience: attempt.patience)), now: now)
            } else {
                enter(.away(Absence(respawnAt: attempt.spawnAt ?? now + backoff.delay())), now: now)
            }
            return [.startFailed(error)]
        }
        if supervised {
            if case .sourceUnavailable = error, agent != nil, policy.outlivesLostSource(source) {
                enter(.live, now: now)
                return [.startFailed(error)]
            }
            var actions = beginStopping(failure: error, reason: "the start failed", now: now)
            if processExists, agent != nil { actions.append(.terminateProcess) }
            return actions
        }
        enter(agent == nil ? .idle : .live, now: now)
        return [.startFailed(error)]
    }

    private mutating func beginStopping(failure: BroadcastError?, reason: String, now: NIODeadline) -> [Action] {
        enter(.stopping(Stopping(failure: failure, forceAt: now + policy.stopGrace)), now: now)
        var actions: [Action] = []
        if agent != nil {
            actions.append(.sendStop(reason: reason))
        } else if processExists {
            // Without a link, only a signal reaches it.
            actions.append(.terminateProcess)
        }
        return actions + finishStopping(now: now)
    }

    private mutating func finishStopping(now: NIODeadline) -> [Action] {
        guard case .stopping(let stopping) = phase, !processExists, agent == nil else { return [] }
        enter(.idle, now: now)
        return (stopping.failure.map { [.startFailed($0)] } ?? []) + [.stopped]
    }

    /// Returns whether the agent captures another source than the requested one.
    private func conflicts(_ requested: SourceRequest) -> Bool {
        supervised || agent == nil ? requested != source : requested.kind.rawValue != runningSource
    }

    /// The kind of the source that is or will be captured.
    package var runningSource: String { agent?.hello.source ?? source.kind.rawValue }
}
