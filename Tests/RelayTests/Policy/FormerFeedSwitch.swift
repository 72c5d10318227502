import NIOCore
import Relay
import Wire

/// A second implementation of ``FeedSwitch``: independent variables that ``orders(now:)`` polls after each event.
///
/// It is the oracle of `FeedSwitchOracleTests`, and shares only the types of its results with the state machine.
struct FormerFeedSwitch {
    typealias Cause = FeedSwitch.Cause
    typealias Order = FeedSwitch.Order
    typealias Source = FeedSwitch.Source
    typealias Policy = FeedSwitch.Policy

    /// The number of switches so far.
    struct Record {
        var count = 0
        var causes: [Cause: Int] = [:]
        var lastGap: TimeAmount?
        var gaps = GapHistogram()
    }

    private struct Agent {
        var isLinked = false
        /// Whether the agent encodes the session.
        var isActive = false
        var source: SourceStatus.State?
        /// When its source started to stream.
        var streamingSince: NIODeadline?
        /// Frames captured before this time are older than its source's last loss. Monotonic ns.
        var lostSource: UInt64 = 0
        var request = FormerKeyframeRequest()
        /// Since when its due pictures have been known to be overdue.
        var stalledSince: NIODeadline?
        var lastAwaitedTurn: NIODeadline?
    }

    var policy: Policy
    private var agents = EachRole(Agent())
    private(set) var current: AgentRole?
    /// Why the last current agent must be replaced, or is gone; `nil` at the beginning, and if it was told to stop.
    private var loss: Cause?
    /// Whether pictures of the broadcast's agent are overdue.
    private var isStalled: Bool { agents.primary.stalledSince != nil }
    /// Since when agents have been linked without sending anything.
    private var waitingSince: NIODeadline?
    private var lastPicture: NIODeadline?
    private var lastSwitch: NIODeadline?
    /// Whether any viewer wants pictures. If none does, no agent encodes the session.
    private(set) var isDemanded = true
    /// The discarded units of all agents.
    private(set) var lastRequestID: UInt32 = 0

    private(set) var record = Record()
    /// Since when viewers see an outdated picture; `nil` if they do not, or have not seen one yet.
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

    /// Records a linked agent, which knows the session as one that is not active.
    mutating func linked(_ role: AgentRole, now: NIODeadline) {
        agents[role] = Agent(isLinked: true)
        if role == .primary, !isDemanded { loss = nil }
        if current == nil { waitingSince = waitingSince ?? now }
    }

    /// - Parameter cause: `nil` if the agent had been told to stop.
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

    /// Records whether any viewer wants pictures. The session then starts as at first, which does not count as a
    /// switch.
    mutating func demand(_ isThere: Bool, now: NIODeadline) {
        guard isThere != isDemanded else { return }
        isDemanded = isThere
        if isThere {
            waitingSince = isLinked ? now : nil
            return
        }
        // The reason why the standby feeds stays, so that the standby is asked at once when pictures are wanted again.
        if current == .standby || isStalled { loss = lossOfBroadcast }
        current = nil
        (agents.primary.stalledSince, agents.standby.stalledSince) = (nil, nil)
        waitingSince = nil
        lastPicture = nil
    }

    /// What keeps the broadcast's agent from delivering, if that is known without pictures.
    private var lossOfBroadcast: Cause? {
        guard agents.primary.isLinked else { return .linkClosed }
        switch agents.primary.source {
        case .lost: return .sourceLost
        case .paused: return .sourcePaused
        case .streaming, .opening, nil: return nil
        }
    }

    // MARK: Pictures

    /// Returns whether an access unit is for the viewers. It may make its agent the current one.
    ///
    /// - Parameter captured: In monotonic ns.
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

    /// Continues the current agent's pictures after a time in which none was made because no viewer wanted them.
    mutating func repeated(now: NIODeadline) {
        if isDemanded { lastPicture = now }
    }

    mutating func awaitsTurn(_ role: AgentRole, now: NIODeadline) { agents[role].lastAwaitedTurn = now }

    private func accepts(_ role: AgentRole, captured: UInt64) -> Bool {
        switch (current, role) {
        case (nil, _): true
        case (_, .standby): !isBroadcastWell
        // After the loss of its source, an agent may still repeat what it showed before.
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

    /// Asks the current agent for a keyframe. A request in flight serves everyone.
    ///
    /// - Returns: The id that the keyframe will carry; `nil` if there is no current agent.
    mutating func requestKeyframe(now: NIODeadline) -> UInt32? { current.map { request(from: $0, now: now) } }

    private mutating func request(from role: AgentRole, now: NIODeadline) -> UInt32 {
        if let pending = agents[role].request.pending { return pending }
        // The greatest id answers every later request. An id that was reused would be the answer to an old request.
        if lastRequestID < .max { lastRequestID += 1 }
        agents[role].request.ask(lastRequestID, now: now)
        return lastRequestID
    }

    // MARK: Orders

    /// Returns the orders to send to the agents now, in this order.
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

    /// Returns whether an agent must encode the session.
    private func isWanted(_ role: AgentRole, now: NIODeadline) -> Bool {
        guard isDemanded, agents[role].isLinked else { return false }
        if role == current { return true }
        switch role {
        case .primary:
            // A stalled session stays as it is and is asked again, because ending it could wait for what hangs.
            return current == nil || isStalled || agents.primary.source == .streaming && isFree(now: now)
        case .standby:
            return !isBroadcastWell && (current == nil || isFree(now: now))
        }
    }

    /// Returns whether the last switch was long enough ago.
    private func isFree(now: NIODeadline) -> Bool { lastSwitch.map { now - $0 >= policy.hold } ?? true }

    /// Returns whether the broadcast's agent delivers or, at the beginning, may be about to.
    private var isBroadcastWell: Bool {
        guard !isStalled else { return false }
        return current == nil ? loss == nil : agents.primary.isLinked && agents.primary.source == .streaming
    }

    /// Returns since when the agent of a role has sent no picture although one was overdue and its source streams;
    /// `nil` if none is overdue.
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

    /// Returns since when the agent of a role owes a picture.
    ///
    /// For the current agent it is judged by its last picture, for another one by its unanswered request. While none
    /// feeds, the broadcast's agent owes one since there has been any agent.
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
