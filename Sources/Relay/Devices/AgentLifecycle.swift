package import HeliographAPI
package import NIOCore
package import Wire

/// What one of a device's agents is doing, the broadcast's or the standby, and what is to be done about it.
///
/// Its mutators take what happened and return what to perform; ``wake`` says when ``timerFired(now:)`` is due. It knows of at most
/// one agent process (one that it spawned, or a former relay did) and at most one link. The two are told apart because an agent may be started by hand.
package struct AgentLifecycle: Sendable {
    private struct Attempt: Sendable {
        var timings: StartTimings.Recorder
        var deadline: NIODeadline
        var timeout: TimeAmount
        /// When to spawn; nil once done, or when the agent needs no spawn.
        var spawnAt: NIODeadline?
        /// Whether the broadcast was supervised before: the start then only waits for what goes on anyway, and its failure ends nothing.
        var isGuest: Bool
        /// When a guest's failure gives up on the linkless process; nil when it is linked, or being terminated.
        var patience: NIODeadline?
    }

    private struct Absence: Sendable {
        /// When to give up on what is awaited: the linkless process, or the external agent.
        var patience: NIODeadline?
        var respawnAt: NIODeadline?
    }

    private struct Stopping: Sendable {
        var failure: BroadcastError?
        /// When to stop being polite.
        var forceAt: NIODeadline?
    }

    private enum Phase: Sendable {
        case idle
        case starting(Attempt)
        case live
        case away(Absence)
        case stopping(Stopping)
    }

    /// May change at any time; what is under way goes on as it began.
    package var policy: Policy
    private var phase = Phase.idle
    private var backoff: RestartBackoff
    /// Whether an agent process exists, from its spawn or adoption to its end.
    private var processExists = false
    /// Whether an agent that vanishes is replaced: true from the first spawn or adoption to the stop.
    private var supervised = false
    package var isSupervised: Bool { supervised }

    /// Since when ``state`` is what it is.
    package private(set) var since: NIODeadline
    package private(set) var agent: Agent?
    package private(set) var processID: Int?
    package private(set) var source: SourceRequest
    /// After how long without a session the broadcast is to end, s; nil for never. The longest that its starts asked for.
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

    /// Whether the relay has an agent process that it started, or adopted.
    package var isManaged: Bool { processExists }

    /// Whether an agent may link now. One that is linked already has to be lost before.
    package var acceptsAgent: Bool { state != .stopping }

    /// When ``timerFired(now:)`` is due next.
    package var wake: NIODeadline? {
        switch phase {
        case .idle, .live: nil
        case .starting(let attempt): [attempt.spawnAt, attempt.deadline].compactMap { $0 }.min()
        case .away(let absence): [absence.patience, absence.respawnAt].compactMap { $0 }.min()
        case .stopping(let stopping): stopping.forceAt
        }
    }

    // MARK: Requests

    package mutating func startRequested(
        source requested: SourceRequest?,
        timeout: TimeAmount,
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
                return .lead(begin(spawnAt: nil, timeout: timeout, now: now))
            }
        case .away(let absence):
            if !supervised { source = requested ?? policy.defaultSource }
            guard supervised else { return .lead(begin(spawnAt: absence.patience, timeout: timeout, now: now)) }
            let spawnAt = absence.respawnAt.map { _ in now }
            return .lead(begin(spawnAt: spawnAt, patience: absence.patience, timeout: timeout, now: now))
        case .idle, .stopping:
            source = requested ?? policy.defaultSource
            restarts = 0
            lastExit = nil
            backoff = RestartBackoff(policy: policy.backoff)
            return .lead(begin(spawnAt: now, timeout: timeout, now: now))
        }
    }

    /// Begins to keep an agent running without anyone waiting for it. Nothing changes unless it is idle.
    ///
    /// - Parameters:
    ///   - grace: How long an agent that may run already is expected before one is started.
    ///   - pid: The agent process that runs already; nil where none is known.
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

    package mutating func stopRequested(reason: String, now: NIODeadline) -> [Action] {
        switch phase {
        case .idle: [.stopped]
        case .stopping: []
        case .starting: [.startFailed(.stopped)] + beginStopping(failure: nil, reason: reason, now: now)
        case .live, .away: beginStopping(failure: nil, reason: reason, now: now)
        }
    }

    // MARK: The agent's link

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

    package mutating func sourceReported(_ status: SourceStatus, now: NIODeadline) -> [Action] {
        agent?.status = status
        guard case .starting(var attempt) = phase else { return [] }
        switch status.state {
        case .opening, .paused:
            return []
        case .streaming:
            attempt.timings.agent = status.timings ?? [:]
            enter(.live, now: now)
            return [.startSucceeded(attempt.timings.finished(now: now))]
        case .lost:
            return fail(.sourceUnavailable(cause: status.cause, detail: status.detail), now: now)
        }
    }

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
            if processExists {
                attempt.patience = now + policy.returnGrace
            } else if supervised {
                // Its process went first, so nothing else brings another agent.
                attempt.spawnAt = now + backoff.delay()
            } else {
                // A hand-started agent went while a start waited for it to stream: it may come back, else one is spawned.
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

    /// The linked agent gives no pictures any more, though its link is well. It is ended where the relay keeps one running: another is
    /// started as after any loss. One that was started by hand is left to whoever did.
    package mutating func agentHung() -> [Action] {
        guard case .live = phase, agent != nil, supervised else { return [] }
        return [.sendStop(reason: "its encoder hangs"), .abandonLink] + (processExists ? [.terminateProcess] : [])
    }

    // MARK: The agent's process

    package mutating func processStarted(pid: Int, now: NIODeadline) {
        processID = pid
        guard case .starting(var attempt) = phase else { return }
        attempt.timings.process = now
        phase = .starting(attempt)
    }

    package mutating func processExited(_ exit: AgentExit, now: NIODeadline) -> [Action] {
        let pid = processID
        processExists = false
        processID = nil
        lastExit = exit
        switch phase {
        case .starting(var attempt) where attempt.isGuest && attempt.patience == nil && agent == nil:
            // It was being terminated already: its exit is what the start waited for.
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
            // A process without a link is of no use. Its exit schedules the restart.
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
        now: NIODeadline
    ) -> [Action] {
        var attempt = Attempt(
            timings: StartTimings.Recorder(start: now),
            deadline: now + timeout,
            timeout: timeout,
            spawnAt: spawnAt,
            isGuest: supervised,
            patience: patience
        )
        attempt.timings.hello = agent == nil ? nil : now
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

    /// Ends a start so that nothing is left of it. What had been there before is not ended for a start that was impatient: an agent that
    /// the relay did not start, or a broadcast that it supervises.
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
            // Without a link it cannot be told otherwise.
            actions.append(.terminateProcess)
        }
        return actions + finishStopping(now: now)
    }

    private mutating func finishStopping(now: NIODeadline) -> [Action] {
        guard case .stopping(let stopping) = phase, !processExists, agent == nil else { return [] }
        enter(.idle, now: now)
        return (stopping.failure.map { [.startFailed($0)] } ?? []) + [.stopped]
    }

    private func conflicts(_ requested: SourceRequest) -> Bool {
        supervised || agent == nil ? requested != source : requested.kind.rawValue != runningSource
    }

    /// The kind of the source that is captured, or will be.
    package var runningSource: String { agent?.hello.source ?? source.kind.rawValue }
}
