import Glibc
package import Wire

/// The maker of the snapshots that the relay asks for over one link. Its thread has a lower priority than encoders.
package final class SnapshotDesk: Sendable {
    private struct Order: Sendable {
        let session: SessionID
        let request: SnapshotRequest
        /// The earliest capture time that it accepts, in monotonic ns; 0 for any.
        let since: UInt64
        /// How long it waits for such a frame, in monotonic ns. After that the screen counts as static.
        let deadline: UInt64
    }

    private struct State: Sendable {
        var orders: [Order] = []
        /// When the newest frame was captured, in monotonic ns.
        var newest: UInt64 = 0
        var isClosing = false
    }

    /// The most requests that may wait. The relay sends one per session and format at a time.
    private static let capacity = 32
    /// How much the thread's niceness is raised, so that encoders come first: nice(1).
    private static let niceness: Int32 = 10

    private let state = Monitor(State())
    private let send: @Sendable (SessionID, Snapshot) -> Void

    /// - Parameter send: Receives the answers.
    package init(send: @escaping @Sendable (SessionID, Snapshot) -> Void) {
        self.send = send
    }

    /// Accepts a request. If too many are waiting, it answers at once.
    ///
    /// - Parameter patience: How long to wait for a fresh frame, in ns.
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

    /// Records that a frame has come from the source. Does not block.
    package func frameArrived(captured: UInt64) {
        let isWaitedFor = state.withLock { state in
            state.newest = max(state.newest, captured)
            return !state.orders.isEmpty
        }
        if isWaitedFor { state.wake() }
    }

    /// Whether a snapshot waits for a frame of the source.
    package var awaitsFrame: Bool {
        state.withLock { state in state.orders.contains { $0.since > state.newest } }
    }

    /// Makes snapshots until the desk is closed.
    ///
    /// - Parameters:
    ///   - subject: What a snapshot of a session shows, or why there is none.
    ///   - answered: Called after each answer.
    package func run(
        _ subject: (SessionID) -> Result<SnapshotSubject, SnapshotRefusal>,
        answered: () -> Void = {}
    ) {
        // On Linux each thread has its own niceness (setpriority(2), BUGS). If the system refuses the change, nothing
        // is lost.
        _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, Self.niceness)
        while let order = nextOrder() {
            let outcome: Snapshot.Outcome
            // The frame is released before its picture is compressed, because its buffer belongs to the source.
            switch subject(order.session).flatMap({ $0.drawn(within: Int(order.request.side) * 16) }) {
            case .success(let drawing):
                outcome = drawing.file(format: order.request.format, quality: order.request.quality)
            case .failure(let refusal): outcome = .refusal(refusal.why)
            }
            send(order.session, Snapshot(request: order.request.id, outcome: outcome))
            answered()
        }
    }

    /// Ends ``run(_:)``.
    package func close() {
        state.update { $0.isClosing = true }
    }

    /// Returns the oldest order that need not wait any longer, or `nil` if the desk is closing.
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
