import NIOCore
import Wire

/// The orders of callers that read or set the clipboard of a device's desktop.
@MediaLoop
final class ClipboardOrders {
    /// How an order ends.
    enum Outcome: Sendable, Equatable {
        case answered(ClipboardReport.Outcome)
        /// The agent's link was lost.
        case lost
        case timeout
    }

    private struct Pending {
        let role: AgentRole
        let waiters: Waiters<Outcome>
    }

    /// The last id of an order, of all devices: an id is used once per link; see docs/reference/wire.md.
    private static var lastID: UInt32 = 0
    /// How long an agent may take. It waits for other programs for at most 10 s.
    static let answerTime = TimeAmount.seconds(30)
    /// The most orders that an agent has at once, because contents are large.
    static let maximumWaiting = 4

    /// Sends a packet to the agent of a role.
    private let tell: @MediaLoop (Packet, AgentRole) -> Void
    private var pending: [UInt32: Pending] = [:]

    init(tell: @escaping @MediaLoop (Packet, AgentRole) -> Void) { self.tell = tell }

    /// Gives an agent an order, and returns how that ended.
    func perform(_ request: ClipboardOrder.Request, by role: AgentRole) async -> Outcome {
        guard pending.values.count(where: { $0.role == role }) < Self.maximumWaiting else {
            return .answered(.refused(.busy, detail: ""))
        }
        Self.lastID &+= 1
        let id = Self.lastID
        tell(.clipboard(ClipboardOrder(id: id, request: request)), role)
        let waiters = Waiters<Outcome>()
        pending[id] = Pending(role: role, waiters: waiters)
        let outcome = await waiters.wait(until: .now() + Self.answerTime) ?? .timeout
        pending[id] = nil
        return outcome
    }

    /// Records an agent's answer.
    ///
    /// - Returns: Whether it is the answer to an order of that agent.
    func received(_ report: ClipboardReport, from role: AgentRole) -> Bool {
        guard let order = pending[report.id], order.role == role else { return false }
        order.waiters.resume(with: .answered(report.outcome))
        pending[report.id] = nil
        return true
    }

    /// Records that an agent's link is lost, and its orders with it.
    func agentLost(_ role: AgentRole) {
        for (id, order) in pending where order.role == role {
            order.waiters.resume(with: .lost)
            pending[id] = nil
        }
    }
}
