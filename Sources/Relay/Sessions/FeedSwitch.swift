package import NIOCore
package import Wire

/// The state machine that decides which of a device's agents feeds a session.
///
/// Each event returns what to tell the agents, in order. Perform these orders before the next event.
///
/// Pictures come from one agent at a time. Another agent takes over with a keyframe that answers a request for one.
/// So viewers never get a picture without its reference, or one that was queued before.
///
/// The broadcast's agent is preferred. The standby encodes only until the broadcast's agent delivers again.
package struct FeedSwitch: Sendable {
    /// Which agent feeds the session, if any.
    private enum Feed {
        /// No sink wants pictures: no agent encodes the session.
        case asleep
        /// Pictures are wanted, and no agent has answered yet. The time has no meaning until an agent is linked.
        case waiting(since: NIODeadline)
        case fed(by: AgentRole, since: NIODeadline)
    }

    /// An agent as the session knows it.
    private struct Agent {
        /// An idle agent is linked and does not encode the session.
        enum State { case absent, idle, active(KeyframeRequest) }

        var state = State.absent
        var source: SourceStatus.State?
        var sourceSince = NIODeadline.distantPast
        /// Frames captured before this instant show the screen before the source's last loss. Monotonic ns.
        var sourceLostAt: UInt64 = 0
        /// When the agent last reported that the session's picture waits for those of other sessions. Until then it
        /// owes none.
        var lastAwaitedTurn = NIODeadline.distantPast
        /// When the relay noticed that the agent owes pictures; `nil` if it owes none.
        var overdueSince: NIODeadline?

        var isLinked: Bool { if case .absent = state { false } else { true } }
        var isStreaming: Bool { source == .streaming }
        var isOverdue: Bool { overdueSince != nil }
        var delivers: Bool { isStreaming && !isOverdue }

        /// An active agent's keyframe request.
        var request: KeyframeRequest? {
            get { if case .active(let request) = state { request } else { nil } }
            set { if let newValue { state = .active(newValue) } }
        }

        /// Why the agent's source does not deliver, if the agent has reported it.
        var sourceLoss: Cause? {
            switch source {
            case .paused: .sourcePaused
            case .lost: .sourceLost
            case .opening, .streaming, nil: nil
            }
        }

        mutating func reported(_ state: SourceStatus.State, now: NIODeadline) {
            if state != source { (source, sourceSince) = (state, now) }
            if sourceLoss != nil { sourceLostAt = now.uptimeNanoseconds }
        }
    }

    package var policy: Policy
    private var feed = Feed.waiting(since: .distantPast)
    private var agents = EachRole(Agent())
    /// Why the broadcast's agent does not deliver, or why the former feed ended. Unused while the standby feeds.
    private var loss: Cause?
    private var lastPicture: NIODeadline?
    /// The id of the last keyframe request to any agent.
    package private(set) var lastRequestID: UInt32 = 0
    package private(set) var record = Record()
    /// When viewers began to see a picture that no longer shows the screen; `nil` if they see a current one or none
    /// yet.
    package private(set) var staleSince: NIODeadline?

    package init(policy: Policy) { self.policy = policy }

    /// The agent whose pictures viewers get.
    package var current: AgentRole? { if case .fed(let role, _) = feed { role } else { nil } }

    /// Whether pictures are wanted.
    package var isDemanded: Bool { if case .asleep = feed { false } else { true } }

    /// Whether there is an agent that may feed the session.
    package var isLinked: Bool { agents.primary.isLinked || agents.standby.isLinked }

    /// The agent that best knows what the screen shows, whether or not it encodes the session; `nil` if none is linked.
    package var watching: AgentRole? {
        if let current { return current }
        let roles = AgentRole.allCases.filter { agents[$0].isLinked }
        return roles.first { agents[$0].isStreaming } ?? roles.first
    }

    package var source: Source {
        guard let current, agents[current].delivers else { return .none }
        return current == .primary ? .primary : .standby
    }

    /// Returns since when the agent of a role owes a picture while its source streams; `nil` if it owes none.
    ///
    /// The time counts from when the agent last reported that the picture waits for its turn.
    package func overdueSince(of role: AgentRole) -> NIODeadline? {
        let agent = agents[role]
        return agent.isStreaming ? agent.overdueSince.map { max($0, agent.sourceSince, agent.lastAwaitedTurn) } : nil
    }

    // MARK: Agents and demand

    /// Records that an agent is linked. It knows the session as one that is not active.
    ///
    /// - Parameter source: The last reported state of the agent's source; `nil` if it has reported none.
    package mutating func linked(_ role: AgentRole, source: SourceStatus.State?, now: NIODeadline) -> [Order] {
        if case .waiting = feed, !isLinked { feed = .waiting(since: now) }
        if case .asleep = feed, role == .primary { loss = nil }
        agents[role] = Agent(state: .idle)
        return source.map { sourceReported(role, $0, now: now) } ?? timePassed(now: now)
    }

    /// Records that an agent's link is lost.
    ///
    /// - Parameter cause: `nil` if the agent was told to stop.
    package mutating func linkLost(_ role: AgentRole, because cause: Cause?, now: NIODeadline) -> [Order] {
        agents[role] = Agent()
        if role == current ?? .primary { loss = cause }
        switch feed {
        case .waiting, .fed(by: role, _): feed = .waiting(since: now)
        case .asleep, .fed: break
        }
        return timePassed(now: now)
    }

    /// Records an agent's report on the state of its source.
    package mutating func sourceReported(_ role: AgentRole, _ state: SourceStatus.State, now: NIODeadline) -> [Order] {
        agents[role].reported(state, now: now)
        switch (role, state, feed) {
        case (.standby, _, _), (_, .opening, _), (_, .streaming, .waiting): break
        case (.primary, _, _): loss = agents.primary.sourceLoss
        }
        return timePassed(now: now)
    }

    /// Records that the session's picture waits while the agent encodes other sessions. The agent is busy; its encoder
    /// does not hang.
    package mutating func awaitsTurn(_ role: AgentRole, now: NIODeadline) { agents[role].lastAwaitedTurn = now }

    /// Records whether pictures are wanted. A session that is wanted again starts anew, which does not count as a
    /// switch.
    package mutating func demand(_ isThere: Bool, now: NIODeadline) -> [Order] {
        guard isThere != isDemanded else { return timePassed(now: now) }
        if isThere {
            feed = .waiting(since: now)
        } else {
            // The reason for the standby may outlast the sleep, so the standby is asked at once.
            if current == .standby || agents.primary.isOverdue {
                loss = agents.primary.isLinked ? agents.primary.sourceLoss : .linkClosed
            }
            agents.primary.overdueSince = nil
            (feed, lastPicture) = (.asleep, nil)
        }
        return timePassed(now: now)
    }

    // MARK: Pictures

    /// Accepts an access unit, which may make its agent the current one.
    ///
    /// - Parameter captured: Monotonic ns.
    /// - Returns: The orders; `nil` if viewers must not get the access unit.
    package mutating func take(
        _ role: AgentRole,
        isKey: Bool,
        request: UInt32,
        captured: UInt64,
        now: NIODeadline
    ) -> [Order]? {
        let isAnswer = isKey && agents[role].request?.answered(by: request) ?? false
        if role != current {
            guard isAnswer, mayTakeOver(role, captured: captured) else { return nil }
            let cause = current == .standby ? .returned : loss
            if let lastPicture, let cause { record.add(cause, gap: now - lastPicture) }
            (feed, loss) = (.fed(by: role, since: now), nil)
        }
        if agents[role].isOverdue {
            agents[role].overdueSince = nil
            if role == .primary, loss == .noPictures { loss = nil }
        }
        lastPicture = now
        return timePassed(now: now)
    }

    /// Records that the current agent's pictures go on, although none was made because no viewer would have got it.
    package mutating func repeated(now: NIODeadline) {
        // A session that falls asleep counts its last pictures only after demand has ended.
        if isDemanded { lastPicture = now }
    }

    /// Returns whether an agent's keyframe makes it the current agent.
    private func mayTakeOver(_ role: AgentRole, captured: UInt64) -> Bool {
        guard current != nil else { return true }
        let primary = agents.primary
        // An agent may still repeat its old picture after its source was lost.
        return role == .standby ? !primary.delivers : primary.isStreaming && captured >= primary.sourceLostAt
    }

    // MARK: Keyframe requests

    /// Asks the current agent for a keyframe. A pending request serves all callers.
    ///
    /// - Returns: The id that the keyframe will carry, and the orders; `nil` if no agent feeds the session.
    package mutating func requestKeyframe(now: NIODeadline) -> (id: UInt32, orders: [Order])? {
        guard let current else { return nil }
        let id = ask(current, now: now)
        return (id, timePassed(now: now))
    }

    private mutating func ask(_ role: AgentRole, now: NIODeadline) -> UInt32 {
        if let pending = agents[role].request?.pending { return pending }
        // The greatest id serves every later request: a reused id could match an old request's answer.
        if lastRequestID < .max { lastRequestID += 1 }
        agents[role].request?.ask(lastRequestID, now: now)
        return lastRequestID
    }

    // MARK: Time

    /// Returns the orders that are due by `now`. All other events call it last; call it periodically when none occurs.
    package mutating func timePassed(now: NIODeadline) -> [Order] {
        noticeOverduePictures(now: now)
        var orders: [Order] = []
        for role in AgentRole.allCases {
            let isWanted = isWanted(role, now: now)
            let changes = isWanted != (agents[role].request != nil)
            if changes { agents[role].state = isWanted ? .active(KeyframeRequest()) : .idle }
            if changes, !isWanted { agents[role].overdueSince = nil }
            if isWanted, role != current { _ = ask(role, now: now) }
            if let id = agents[role].request?.due(now: now) { orders.append(.requestKeyframe(role, id)) }
            if changes { orders.append(isWanted ? .activate(role) : .deactivate(role)) }
        }
        staleSince = source == .none && lastPicture != nil ? staleSince ?? now : nil
        return orders
    }

    /// Returns whether an agent should encode the session.
    private func isWanted(_ role: AgentRole, now: NIODeadline) -> Bool {
        guard agents[role].isLinked else { return false }
        let primary = agents.primary
        switch feed {
        case .asleep: return false
        case .waiting: return role == .primary || loss != nil || primary.isOverdue
        case .fed(by: role, _): return true
        case .fed(_, let since):
            let isHeld = now - since < policy.hold
            // An agent that owes pictures stays active and is asked again: ending its session could block on whatever
            // hangs.
            return role == .standby
                ? !primary.delivers && !isHeld : primary.isOverdue || primary.isStreaming && !isHeld
        }
    }

    /// Updates since when each agent owes a picture.
    private mutating func noticeOverduePictures(now: NIODeadline) {
        for role in AgentRole.allCases where !agents[role].isOverdue {
            guard let owesSince = owesSince(role) else { continue }
            guard now - max(owesSince, agents[role].lastAwaitedTurn) >= policy.silence else { continue }
            agents[role].overdueSince = now
            if role == .primary { loss = loss ?? .noPictures }
        }
    }

    /// Returns since when an agent owes a picture.
    ///
    /// The current agent owes one since its last picture, another agent since it was asked. While no agent feeds the
    /// session, the broadcast's agent owes one since the first agent was linked.
    private func owesSince(_ role: AgentRole) -> NIODeadline? {
        let asked = agents[role].request?.since
        switch feed {
        case .asleep: return nil
        case .waiting(let since) where role == .primary: return isLinked ? since : nil
        case .fed(by: role, _): return policy.repeats ? lastPicture : asked.map { max($0, lastPicture ?? $0) }
        case .waiting, .fed: return asked
        }
    }
}
