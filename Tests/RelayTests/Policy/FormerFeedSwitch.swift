import NIOCore
import Relay
import Wire

/// A second implementation of ``FeedSwitch``: independent variables that ``orders(now:)`` polls after each event.
///
/// It is the oracle of `FeedSwitchOracleTests`, and shares nothing with the state machine but the types of its results.
struct FormerFeedSwitch {
    typealias Cause = FeedSwitch.Cause
    typealias Order = FeedSwitch.Order
    typealias Source = FeedSwitch.Source
    typealias Policy = FeedSwitch.Policy

    /// The switches so far.
    struct Record {
        var count = 0
        var causes: [Cause: Int] = [:]
        var lastGap: TimeAmount?
        var gaps = GapHistogram()
    }

    private struct Agent {
        var isLinked = false
        /// Whether it encodes the session.
        var isActive = false
        var source: SourceStatus.State?
        /// Since when its source streams.
        var streamingSince: NIODeadline?
        /// Frames captured before are older than its source's last loss. Monotonic ns.
        var lostSource: UInt64 = 0
        var request = FormerKeyframeRequest()
        /// Since when it has been known that it owes pictures that do not come.
        var stalledSince: NIODeadline?
        var lastAwaitedTurn: NIODeadline?
    }

    var policy: Policy
    private var agents = EachRole(Agent())
    private(set) var current: AgentRole?
    /// Why the last current agent is to be left, or is gone; nil at the beginning, and when it was told to stop.
    private var loss: Cause?
    /// Whether the broadcast's agent owes pictures that do not come.
    private var isStalled: Bool { agents.primary.stalledSince != nil }
    /// Since when agents are linked and nothing has come from any.
    private var waitingSince: NIODeadline?
    private var lastPicture: NIODeadline?
    private var lastSwitch: NIODeadline?
    /// Whether anybody wants pictures. While nobody does no agent encodes the session, and none is expected to.
    private(set) var isDemanded = true
    /// Of all agents.
    private(set) var lastRequestID: UInt32 = 0

    private(set) var record = Record()
    /// Since when viewers see a picture that is no longer the screen's; nil when they do not, or saw none yet.
    private(set) var staleSince: NIODeadline?

    init(policy: Policy) { self.policy = policy }

    private var silence: TimeAmount {
        .nanoseconds(Int64(policy.missingPictures) * 1_000_000_000 / Int64(max(1, policy.fps))) + policy.patience
    }

    var source: Source {
        switch current {
        case .primary where agents.primary.source == .streaming && !isStalled: .primary
        case .standby where agents.standby.source == .streaming && agents.standby.stalledSince == nil: .standby
        case .primary, .standby, nil: .none
        }
    }

    // MARK: What happens to agents

    /// An agent is linked, and knows the session as one that is not active.
    mutating func linked(_ role: AgentRole, now: NIODeadline) {
        agents[role] = Agent(isLinked: true)
        if role == .primary, !isDemanded { loss = nil }
        if current == nil { waitingSince = waitingSince ?? now }
    }

    /// - Parameter cause: nil when the agent had been told to stop.
    mutating func linkLost(_ role: AgentRole, because cause: Cause?, now: NIODeadline) {
        agents[role] = Agent()
        if role == current || current == nil && role == .primary {
            current = nil
            loss = cause
        }
        if current == nil { waitingSince = isLinked ? now : nil }
    }

    mutating func sourceReported(_ role: AgentRole, _ state: SourceStatus.State, now: NIODeadline) {
        agents[role].source = state
        agents[role].streamingSince = state == .streaming ? agents[role].streamingSince ?? now : nil
        switch state {
        case .opening:
            break
        case .streaming:
            if role == .primary, current == .primary || !isDemanded { loss = nil }
        case .paused, .lost:
            agents[role].lostSource = now.uptimeNanoseconds
            if role == .primary, current != .standby { loss = state == .lost ? .sourceLost : .sourcePaused }
        }
    }

    /// Whether there is an agent that may feed the session.
    var isLinked: Bool { agents.primary.isLinked || agents.standby.isLinked }

    // MARK: Demand

    /// Somebody wants pictures, or nobody does any more. The session then begins as it did at first, and that is no switch.
    mutating func demand(_ isThere: Bool, now: NIODeadline) {
        guard isThere != isDemanded else { return }
        isDemanded = isThere
        if isThere {
            waitingSince = isLinked ? now : nil
            return
        }
        // What the standby fed because of goes on, so that it is asked at once when somebody does again.
        if current == .standby || isStalled { loss = lossOfBroadcast }
        current = nil
        (agents.primary.stalledSince, agents.standby.stalledSince) = (nil, nil)
        waitingSince = nil
        lastPicture = nil
    }

    /// What keeps the broadcast's agent from delivering, as far as it is known without pictures.
    private var lossOfBroadcast: Cause? {
        guard agents.primary.isLinked else { return .linkClosed }
        switch agents.primary.source {
        case .lost: return .sourceLost
        case .paused: return .sourcePaused
        case .streaming, .opening, nil: return nil
        }
    }

    // MARK: Pictures

    /// Whether an access unit is for the viewers. It may make its agent the current one.
    ///
    /// - Parameter captured: Monotonic ns.
    mutating func takes(
        _ role: AgentRole,
        isKey: Bool,
        request: UInt32,
        captured: UInt64,
        now: NIODeadline
    ) -> Bool {
        let isAnswer = isKey && agents[role].request.answered(by: request)
        if role != current {
            guard isAnswer, agents[role].isActive, accepts(role, captured: captured) else { return false }
            change(to: role, now: now)
        }
        if agents[role].stalledSince != nil {
            agents[role].stalledSince = nil
            if role == .primary, loss == .noPictures { loss = nil }
        }
        lastPicture = now
        return true
    }

    /// The current agent's pictures go on, though none was made because nobody gets them.
    mutating func repeated(now: NIODeadline) {
        if isDemanded { lastPicture = now }
    }

    mutating func awaitsTurn(_ role: AgentRole, now: NIODeadline) { agents[role].lastAwaitedTurn = now }

    private func accepts(_ role: AgentRole, captured: UInt64) -> Bool {
        switch (current, role) {
        case (nil, _): true
        case (_, .standby): !isBroadcastWell
        // After its source was lost an agent may still repeat what it showed before.
        case (_, .primary): agents.primary.source == .streaming && captured >= agents.primary.lostSource
        }
    }

    private mutating func change(to role: AgentRole, now: NIODeadline) {
        let cause = current == .standby ? .returned : loss
        if let lastPicture, let cause {
            let gap = now - lastPicture
            record.count += 1
            record.causes[cause, default: 0] += 1
            record.lastGap = gap
            record.gaps.add(gap)
        }
        lastSwitch = now
        current = role
        loss = nil
        waitingSince = nil
    }

    // MARK: Keyframe requests

    /// Asks the current agent for a keyframe: one that is asked for already serves everyone.
    ///
    /// - Returns: The id that the keyframe will carry; nil when there is no current agent.
    mutating func requestKeyframe(now: NIODeadline) -> UInt32? { current.map { request(from: $0, now: now) } }

    private mutating func request(from role: AgentRole, now: NIODeadline) -> UInt32 {
        if let pending = agents[role].request.pending { return pending }
        // The greatest id serves every later request: an id that came again would be an old request's answer.
        if lastRequestID < .max { lastRequestID += 1 }
        agents[role].request.ask(lastRequestID, now: now)
        return lastRequestID
    }

    // MARK: Orders

    /// What is to be sent to the agents by now, in this order.
    mutating func orders(now: NIODeadline) -> [Order] {
        lookForStall(now: now)
        var orders: [Order] = []
        for role in AgentRole.allCases {
            let isWanted = isWanted(role, now: now)
            if isWanted, role != current { _ = request(from: role, now: now) }
            if !isWanted, agents[role].isActive {
                agents[role].isActive = false
                agents[role].request.reset()
                agents[role].stalledSince = nil
                orders.append(.deactivate(role))
            }
            guard isWanted else { continue }
            if let id = agents[role].request.due(now: now) { orders.append(.requestKeyframe(role, id)) }
            if !agents[role].isActive {
                agents[role].isActive = true
                orders.append(.activate(role))
            }
        }
        staleSince = source == .none && lastPicture != nil ? staleSince ?? now : nil
        return orders
    }

    /// Whether an agent is to encode the session.
    private func isWanted(_ role: AgentRole, now: NIODeadline) -> Bool {
        guard isDemanded, agents[role].isLinked else { return false }
        if role == current { return true }
        switch role {
        case .primary:
            // A session that has stalled stays as it is, and goes on being asked: ending it could wait for what hangs.
            return current == nil || isStalled || agents.primary.source == .streaming && isFree(now: now)
        case .standby:
            return !isBroadcastWell && (current == nil || isFree(now: now))
        }
    }

    /// Whether the last switch is long enough ago.
    private func isFree(now: NIODeadline) -> Bool { lastSwitch.map { now - $0 >= policy.hold } ?? true }

    /// Whether the broadcast's agent delivers or, at the beginning, may be about to.
    private var isBroadcastWell: Bool {
        guard !isStalled else { return false }
        return current == nil ? loss == nil : agents.primary.isLinked && agents.primary.source == .streaming
    }

    /// Since when the agent of a role has given no picture though one was overdue and its source streams; nil when it owes none.
    func overdueSince(of role: AgentRole) -> NIODeadline? {
        guard let stalledSince = agents[role].stalledSince, let streamingSince = agents[role].streamingSince else {
            return nil
        }
        return max(stalledSince, streamingSince, agents[role].lastAwaitedTurn ?? .distantPast)
    }

    private mutating func lookForStall(now: NIODeadline) {
        guard isDemanded else { return }
        for role in AgentRole.allCases where agents[role].stalledSince == nil {
            guard let since = owesSince(role), now - since >= silence else { continue }
            agents[role].stalledSince = now
            if role == .primary, current != .standby { loss = loss ?? .noPictures }
        }
    }

    /// Since when the agent of a role owes a picture: the current one by what it gave last, another by its unanswered request. While none
    /// feeds, the broadcast's owes one since there has been any agent.
    private func owesSince(_ role: AgentRole) -> NIODeadline? {
        let asked = agents[role].request.since
        let since: NIODeadline? =
            switch (current, role) {
            case (role, _): policy.repeats ? lastPicture : asked.map { max($0, lastPicture ?? $0) }
            case (nil, .primary): waitingSince
            default: asked
            }
        return since.map { max($0, agents[role].lastAwaitedTurn ?? $0) }
    }
}
