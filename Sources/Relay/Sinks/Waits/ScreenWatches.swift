import Media
import NIOCore
import Wire

/// The callers that wait until a part of a session's screen shows something. An agent compares the pixels; this needs
/// no encoder.
@MediaLoop
final class ScreenWatches: Sink {
    /// A caller that waits.
    struct Waiter: Hashable {
        fileprivate let id: Int
    }

    /// How a wait ends.
    enum Outcome: Sendable, Equatable {
        case happened(captured: UInt64, box: PictureRegion)
        case refused(WatchReport.Refusal)
        /// The session has ended, or the waiting caller is gone.
        case ended
    }

    private struct Entry {
        /// Its id is that of the order that the agent follows now.
        var watch: Watch
        let waiters = Waiters<Void>()
        var outcome: Outcome?

        init(_ watch: Watch) { self.watch = watch }
    }

    /// The last id of a watch, in all sessions: an id is used once per link; see docs/reference/wire.md.
    private static var lastID: UInt32 = 0

    /// How many callers may wait at once.
    var maximum: Int
    /// Sends a packet to the agent of a role.
    private let tell: @MediaLoop (Packet, AgentRole) -> Void
    private let session: SessionID
    private var entries: [Waiter: Entry] = [:]
    private var lastWaiter = 0
    /// The agent that watches.
    private var role: AgentRole?
    private var ended = false

    init(session: SessionID, maximum: Int, tell: @escaping @MediaLoop (Packet, AgentRole) -> Void) {
        self.session = session
        self.maximum = maximum
        self.tell = tell
    }

    // MARK: Sink

    let demand = Demand.none
    var isUse: Bool { !entries.isEmpty }

    func take(_ item: StreamItem) {
        guard case .end = item else { return }
        ended = true
        for waiter in entries.keys { finish(waiter, with: .ended) }
    }

    // MARK: The agents' side

    /// Moves all watches to the agent that knows the screen best. They start anew there.
    func follow(_ best: AgentRole?) {
        guard best != role else { return }
        if let role { for entry in entries.values { tell(.unwatch(session, watch: entry.watch.id), role) } }
        role = best
        for (waiter, entry) in entries where entry.outcome == nil { order(waiter) }
    }

    /// Tells the agent what a caller waits for, by an id that no former order has.
    private func order(_ waiter: Waiter) {
        guard let role else { return }
        Self.lastID &+= 1
        entries[waiter]?.watch.id = Self.lastID
        if let watch = entries[waiter]?.watch { tell(.watch(session, watch), role) }
    }

    /// Records that an agent's link is lost, and its watches with it.
    func agentLost(_ lost: AgentRole) { if role == lost { role = nil } }

    func received(_ report: WatchReport, from role: AgentRole) {
        guard role == self.role, let waiter = entries.first(where: { $0.value.watch.id == report.id })?.key else {
            return
        }
        switch report.outcome {
        case .happened(let captured, let box): finish(waiter, with: .happened(captured: captured, box: box))
        case .refusal(let refusal): finish(waiter, with: .refused(refusal))
        }
    }

    private func finish(_ waiter: Waiter, with outcome: Outcome) {
        guard entries[waiter] != nil, entries[waiter]?.outcome == nil else { return }
        entries[waiter]?.outcome = outcome
        entries[waiter]?.waiters.resume(with: ())
    }

    // MARK: Waiting

    /// Reserves a place, which ``leave(_:)`` releases.
    ///
    /// - Parameter watch: What to watch for; its id is ignored.
    func join(_ watch: Watch) throws(ScreenWaitFailure) -> Waiter {
        guard !ended else { throw .ended }
        guard entries.count < maximum else { throw .tooMany(limit: maximum) }
        lastWaiter += 1
        let waiter = Waiter(id: lastWaiter)
        entries[waiter] = Entry(watch)
        order(waiter)
        return waiter
    }

    /// Waits for the outcome. Returns `nil` if there is none by `time`.
    func outcome(of waiter: Waiter, until time: NIODeadline) async -> Outcome? {
        guard let entry = entries[waiter] else { return .ended }
        if let outcome = entry.outcome { return outcome }
        _ = await entry.waiters.wait(until: time)
        guard let entry = entries[waiter] else { return .ended }
        return entry.outcome
    }

    /// Releases a place that its caller no longer needs.
    func leave(_ waiter: Waiter) {
        guard let entry = entries.removeValue(forKey: waiter) else { return }
        entry.waiters.resume(with: ())
        guard entry.outcome == nil, let role else { return }
        tell(.unwatch(session, watch: entry.watch.id), role)
    }
}
