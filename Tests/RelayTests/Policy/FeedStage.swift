import NIOCore
import Relay
import Testing
import Wire

/// A session's switch, with agents that answer when a test tells them to.
struct FeedStage {
    private(set) var feeds: FeedSwitch
    /// The agents that encode the session, with the last request that each was sent.
    private(set) var active: Set<AgentRole> = []
    private(set) var requested: [AgentRole: UInt32] = [:]
    /// The result of the last event.
    private(set) var orders: [FeedSwitch.Order] = []

    init(repeats: Bool = true) {
        feeds = FeedSwitch(policy: .init(repeats: repeats, fps: 30))
    }

    private mutating func perform(_ orders: [FeedSwitch.Order]) {
        self.orders = orders
        for order in orders {
            switch order {
            case .requestKeyframe(let role, let id): requested[role] = id
            case .activate(let role):
                #expect(requested[role] != nil, "what becomes active has been asked for a keyframe before")
                active.insert(role)
            case .deactivate(let role): forget(role)
            }
        }
    }

    private mutating func forget(_ role: AgentRole) {
        active.remove(role)
        requested[role] = nil
    }

    mutating func tick(_ now: Int64) { perform(feeds.timePassed(now: at(now))) }

    mutating func link(_ role: AgentRole, _ state: SourceStatus.State? = .streaming, at now: Int64) {
        forget(role)
        perform(feeds.linked(role, source: state, now: at(now)))
    }

    mutating func lose(_ role: AgentRole, _ cause: FeedSwitch.Cause? = .linkClosed, at now: Int64) {
        forget(role)
        perform(feeds.linkLost(role, because: cause, now: at(now)))
    }

    mutating func repeated(at now: Int64) { feeds.repeated(now: at(now)) }

    mutating func awaitTurn(_ role: AgentRole, at now: Int64) { feeds.awaitsTurn(role, now: at(now)) }

    mutating func report(_ role: AgentRole, _ state: SourceStatus.State, at now: Int64) {
        perform(feeds.sourceReported(role, state, now: at(now)))
    }

    mutating func demand(_ isThere: Bool, at now: Int64) { perform(feeds.demand(isThere, now: at(now))) }

    /// Asks the feeding agent for a keyframe, and returns the request's id.
    mutating func requestKeyframe(at now: Int64) -> UInt32? {
        let request = feeds.requestKeyframe(now: at(now))
        if let request { perform(request.orders) }
        return request?.id
    }

    /// Sends a keyframe that answers the last request.
    ///
    /// - Returns: Whether viewers get it.
    mutating func answer(_ role: AgentRole, capturedAt captured: Int64? = nil, at now: Int64) -> Bool {
        take(role, key: true, request: requested[role] ?? 0, capturedAt: captured, at: now)
    }

    /// Sends a picture.
    ///
    /// - Returns: Whether viewers get it.
    mutating func take(
        _ role: AgentRole,
        key: Bool = false,
        request: UInt32 = 0,
        capturedAt captured: Int64? = nil,
        at now: Int64
    ) -> Bool {
        let captured = at(captured ?? now).uptimeNanoseconds
        guard let orders = feeds.take(role, isKey: key, request: request, captured: captured, now: at(now)) else {
            return false
        }
        perform(orders)
        return true
    }

    /// Returns a stage with both agents linked, on which the broadcast's agent has been the feed since 0.
    static func live(repeats: Bool = true) -> FeedStage {
        var stage = FeedStage(repeats: repeats)
        stage.link(.primary, at: 0)
        stage.link(.standby, at: 0)
        _ = stage.answer(.primary, at: 0)
        return stage
    }
}
