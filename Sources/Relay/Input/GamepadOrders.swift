import HeliographAPI
import NIOCore
import Wire

/// The gamepad of a device, and the viewer that has it.
@MediaLoop
final class GamepadOrders {
    private let send: @MediaLoop (Packet, AgentRole) -> Void
    private var seat = GamepadSeat()
    private weak var owner: ViewerControl?
    private var timer: Scheduled<Void>?

    /// - Parameter send: Sends a packet to the agent of a role.
    init(send: @escaping @MediaLoop (Packet, AgentRole) -> Void) { self.send = send }

    /// Returns whether a viewer has the gamepad.
    func isOwned(by viewer: ViewerControl) -> Bool { owner === viewer }

    /// Returns whether a state differs from the one before.
    func isChanged(by state: GamepadState) -> Bool { seat.state != state }

    /// Makes a viewer's gamepad, in place of any other.
    ///
    /// - Parameter role: The agent that feeds the viewer's session; `nil` if none is linked.
    func connect(_ type: GamepadType?, of viewer: ViewerControl, on role: AgentRole?) {
        if let owner, owner !== viewer { disconnect(of: owner, because: "Another viewer has connected its gamepad.") }
        owner = viewer
        perform(seat.connect(type, on: role, now: .now()))
    }

    func show(_ state: GamepadState, of viewer: ViewerControl) {
        guard owner === viewer else { return }
        perform(seat.show(state, now: .now()))
    }

    /// Ends a viewer's gamepad, if it has one.
    func disconnect(of viewer: ViewerControl, because reason: String? = nil) {
        guard owner === viewer else { return }
        perform(seat.disconnect())
        owner = nil
        viewer.tell(GamepadEvent(detail: reason))
    }

    /// Moves a viewer's gamepad to the agent that feeds its session; `nil` if none is linked.
    func feeds(_ role: AgentRole?, of viewer: ViewerControl) {
        guard owner === viewer else { return }
        perform(seat.feeds(role, now: .now()))
    }

    /// Follows an agent's report.
    ///
    /// - Returns: Whether the agent may send it.
    func received(_ report: GamepadReport, from role: AgentRole) -> Bool {
        guard let actions = seat.received(report, from: role, now: .now()) else { return false }
        perform(actions)
        return true
    }

    func agentLost(_ role: AgentRole) { perform(seat.lost(role)) }

    private func perform(_ actions: [GamepadSeat.Action]) {
        for action in actions {
            switch action {
            case .send(let order, let role): send(.gamepad(order), role)
            case .tell(let event): owner?.tell(event)
            }
        }
        timer?.cancel()
        timer = seat.deadline.map { deadline in
            MediaLoop.schedule(at: deadline) { [weak self] in self?.tick() }
        }
    }

    private func tick() { perform(seat.tick(now: .now())) }
}
