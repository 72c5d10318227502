package import HeliographAPI
package import NIOCore
package import Wire

/// The one gamepad that a device may have, for the viewer that has it. A pure value.
///
/// It sends an agent at most 250 states a second. If more come, the newest one counts.
package struct GamepadSeat: Sendable {
    package enum Action: Sendable, Equatable {
        case send(GamepadOrder, AgentRole)
        /// Tell the viewer whose gamepad it is.
        case tell(GamepadEvent)
    }

    private struct Pad {
        /// `nil` for any.
        let type: GamepadType?
        /// The agent that has it; `nil` while no agent is linked.
        var role: AgentRole?
        var id: UInt32 = 0
        var state = GamepadState.neutral
        /// Whether `state` has not been sent.
        var isWaiting = false
        /// When the next state may be sent.
        var due: NIODeadline
        var event = GamepadEvent()
    }

    /// The time between two states.
    package static let interval = TimeAmount.milliseconds(4)

    private var pad: Pad?
    private var lastID: UInt32 = 0
    private var reports = TokenBucket(capacity: 400, perSecond: 200)

    package init() {}

    /// The last state; `nil` without a gamepad.
    package var state: GamepadState? { pad?.state }

    /// When ``tick(now:)`` has a state to send; `nil` for never.
    package var deadline: NIODeadline? { pad.flatMap { $0.isWaiting && $0.role != nil ? $0.due : nil } }

    // MARK: The viewer's side

    /// Makes a gamepad, in place of any other.
    ///
    /// - Parameter role: The agent that feeds the viewer's session; `nil` if none is linked.
    package mutating func connect(_ type: GamepadType?, on role: AgentRole?, now: NIODeadline) -> [Action] {
        let actions = disconnect()
        pad = Pad(type: type, role: nil, due: now)
        return actions + feeds(role, now: now)
    }

    /// Shows a state, now or as soon as it may be sent.
    package mutating func show(_ state: GamepadState, now: NIODeadline) -> [Action] {
        guard pad != nil else { return [] }
        pad?.state = state
        pad?.isWaiting = true
        return tick(now: now)
    }

    /// Ends the gamepad.
    package mutating func disconnect() -> [Action] {
        defer { pad = nil }
        guard let pad, let role = pad.role else { return [] }
        return [.send(GamepadOrder(id: pad.id, .disconnect), role)]
    }

    /// Sends a state that was held back. Called at ``deadline``.
    package mutating func tick(now: NIODeadline) -> [Action] {
        guard let pad, let role = pad.role, pad.isWaiting, now >= pad.due else { return [] }
        self.pad?.isWaiting = false
        self.pad?.due = now + Self.interval
        return [.send(GamepadOrder(id: pad.id, .state(pad.state)), role)]
    }

    // MARK: The agents' side

    /// Moves the gamepad to the agent that feeds the viewer's session. There it begins with nothing pressed.
    ///
    /// - Parameter role: `nil` if none is linked.
    package mutating func feeds(_ role: AgentRole?, now: NIODeadline) -> [Action] {
        guard let former = pad, former.role != role else { return [] }
        var actions: [Action] = []
        if let left = former.role { actions.append(.send(GamepadOrder(id: former.id, .disconnect), left)) }
        lastID &+= 1
        pad?.role = role
        pad?.id = lastID
        pad?.state = .neutral
        pad?.isWaiting = false
        if let role { actions.append(.send(GamepadOrder(id: lastID, .connect(former.type)), role)) }
        return actions
    }

    /// Follows an agent's report.
    ///
    /// - Returns: `nil` if it is about another gamepad, or reports come too fast.
    package mutating func received(_ report: GamepadReport, from role: AgentRole, now: NIODeadline) -> [Action]? {
        guard reports.take(now: now), var event = pad?.event, pad?.id == report.id, pad?.role == role else {
            return nil
        }
        switch report.event {
        case .connected(let type): event = GamepadEvent(type: type)
        case .failed(let detail): event = GamepadEvent(detail: detail)
        case .feedback(let feedback):
            guard event.type != nil else { return nil }
            event.feedback = feedback
        }
        pad?.event = event
        return [.tell(event)]
    }

    /// Records that an agent's link is lost, and its gamepad with it.
    package mutating func lost(_ role: AgentRole) -> [Action] {
        guard pad?.role == role else { return [] }
        let event = GamepadEvent(detail: "The agent was lost. The gamepad returns with it.")
        pad?.role = nil
        pad?.event = event
        return [.tell(event)]
    }
}
