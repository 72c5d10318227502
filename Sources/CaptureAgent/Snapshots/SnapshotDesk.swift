import Glibc
package import Wire

/// Makes the snapshots that the relay asks for over one link, in a thread of its own that has less of the processor than encoders have.
package final class SnapshotDesk: Sendable {
    private struct Order: Sendable {
        let session: SessionID
        let request: SnapshotRequest
        /// It waits for a frame captured from then on, monotonic ns; 0 for any.
        let since: UInt64
        /// Until then, monotonic ns; after that the screen is taken to be static.
        let deadline: UInt64
    }

    private struct State: Sendable {
        var orders: [Order] = []
        /// When the newest frame was captured, monotonic ns.
        var newest: UInt64 = 0
        var isClosing = false
    }

    /// Requests that may wait. The relay has one of a session and format under way.
    private static let capacity = 32
    /// How much less than others the thread gets of a processor that is short: nice(1).
    private static let niceness: Int32 = 10

    private let state = Monitor(State())
    private let send: @Sendable (SessionID, Snapshot) -> Void

    /// - Parameter send: Takes answers.
    package init(send: @escaping @Sendable (SessionID, Snapshot) -> Void) {
        self.send = send
    }

    /// Takes a request in; answers at once when too many wait.
    ///
    /// - Parameter patience: How long a fresh picture may be waited for, ns.
    package func take(_ request: SnapshotRequest, of session: SessionID, patience: UInt64) {
        let now = MonotonicClock.now
        let order = Order(
            session: session,
            request: request,
            since: request.isFresh ? now : 0,
            deadline: request.isFresh ? now + patience : 0
        )
        let isTaken = state.update { state in
            guard state.orders.count < Self.capacity else { return false }
            state.orders.append(order)
            return true
        }
        if !isTaken { send(session, Snapshot(request: request.id, outcome: .refusal(.busy))) }
    }

    /// A frame has come from the source. Does not block.
    package func frameArrived(captured: UInt64) {
        let isWaitedFor = state.withLock { state in
            state.newest = max(state.newest, captured)
            return !state.orders.isEmpty
        }
        if isWaitedFor { state.wake() }
    }

    /// Makes snapshots until the desk is closed.
    ///
    /// - Parameter subject: What a snapshot of a session shows, or why there is none.
    package func run(_ subject: (SessionID) -> Result<SnapshotSubject, SnapshotRefusal>) {
        // Linux has a niceness for each thread (setpriority(2), BUGS); where it is refused, nothing is lost.
        _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, Self.niceness)
        while let order = nextOrder() {
            let outcome: Snapshot.Outcome
            // The frame is let go before its picture is compressed: its buffer is the source's.
            switch subject(order.session).flatMap({ $0.drawn() }) {
            case .success(let drawing):
                outcome = drawing.file(format: order.request.format, quality: order.request.quality)
            case .failure(let refusal): outcome = .refusal(refusal.why)
            }
            send(order.session, Snapshot(request: order.request.id, outcome: outcome))
        }
    }

    /// Ends ``run(_:)``.
    package func close() {
        state.update { $0.isClosing = true }
    }

    /// The oldest order that need not wait. Nil when the desk is closing.
    private func nextOrder() -> Order? {
        state.wait { state in
            if state.isClosing { return .done(nil) }
            let now = MonotonicClock.now
            let newest = state.newest
            let ready = state.orders.firstIndex { $0.since <= newest || $0.deadline <= now }
            guard let ready else { return .wait(until: state.orders.map(\.deadline).min()) }
            return .done(state.orders.remove(at: ready))
        }
    }
}
