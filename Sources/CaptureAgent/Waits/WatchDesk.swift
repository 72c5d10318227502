import Glibc
package import Media
package import Wire

/// The keeper of the watches that the relay asks for over one link. Its thread has a lower priority than encoders.
///
/// It compares each frame that arrives. If frames come faster, it skips to the newest one. It works whether or not a
/// session is encoded.
package final class WatchDesk: Sendable {
    private enum Order: Sendable {
        case watch(SessionID, Watch)
        case unwatch(UInt32)
        case interrupt
    }

    private struct State: Sendable {
        var orders: [Order] = []
        /// The newest frame that has not been compared yet.
        var frame: CapturedFrame?
        /// The sessions of all watches, by the watches' ids.
        var sessions: [UInt32: SessionID] = [:]
        var isClosing = false

        /// Bytes of the templates that the thread has not seen yet.
        var pendingBytes: Int {
            orders.reduce(0) { if case .watch(_, let watch) = $1 { $0 + watch.template.count } else { $0 } }
        }
    }

    /// How much the thread's niceness is raised, so that encoders come first: nice(1).
    private static let niceness: Int32 = 10
    /// The most watches at a time.
    private static let capacity = 256
    /// Most bytes of templates that wait for the thread.
    private static let mostPendingBytes = 32 << 20

    private let state = Monitor(State())
    private let send: @Sendable (SessionID, WatchReport) -> Void
    private let changed: @Sendable () -> Void

    /// - Parameters:
    ///   - send: Receives the answers.
    ///   - changed: Called in any thread when ``sessions`` may have changed.
    package init(
        send: @escaping @Sendable (SessionID, WatchReport) -> Void,
        changed: @escaping @Sendable () -> Void
    ) {
        self.send = send
        self.changed = changed
    }

    /// The sessions whose screens are watched.
    package var sessions: Set<SessionID> { state.withLock { Set($0.sessions.values) } }

    package func take(_ watch: Watch, of session: SessionID) {
        let isTaken = state.update { state in
            guard state.sessions.count < Self.capacity,
                state.pendingBytes + watch.template.count <= Self.mostPendingBytes
            else { return false }
            state.sessions[watch.id] = session
            state.orders.append(.watch(session, watch))
            return true
        }
        guard isTaken else { return send(session, WatchReport(id: watch.id, outcome: .refusal(.busy))) }
        changed()
    }

    package func end(_ id: UInt32) {
        state.update { state in
            state.sessions[id] = nil
            // A watch that the thread has not seen yet leaves nothing behind.
            let count = state.orders.count
            state.orders.removeAll { if case .watch(_, let watch) = $0 { watch.id == id } else { false } }
            if state.orders.count == count { state.orders.append(.unwatch(id)) }
        }
        changed()
    }

    /// Records that a frame has come from the source. Does not block.
    package func frameArrived(_ frame: CapturedFrame) {
        // The replaced frame is released outside the lock.
        let (displaced, isWatched) = state.withLock { state -> (CapturedFrame?, Bool) in
            guard !state.sessions.isEmpty else { return (nil, false) }
            defer { state.frame = frame }
            return (state.frame, true)
        }
        if isWatched { state.wake() }
        withExtendedLifetime(displaced) {}
    }

    /// Records that the source's last frame may no longer be what the screen shows.
    package func interrupted() {
        let displaced = state.update { state -> CapturedFrame? in
            defer { state.frame = nil }
            if !state.sessions.isEmpty { state.orders.append(.interrupt) }
            return state.frame
        }
        withExtendedLifetime(displaced) {}
    }

    /// Ends ``run(_:)``.
    package func close() {
        state.update { $0.isClosing = true }
    }

    /// Keeps watches until the desk is closed.
    ///
    /// - Parameter subject: Returns what a session shows: the newest frame, if the screen still shows it, and the
    ///   session's size. Returns `nil` if there is no such session.
    package func run(_ subject: (SessionID) -> (frame: CapturedFrame?, size: RequestedSize)?) {
        // On Linux each thread has its own niceness (setpriority(2), BUGS). If the system refuses the change, nothing
        // is lost.
        _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, Self.niceness)
        var rounds = WatchRounds()
        while let (orders, frame) = next(until: rounds.nextTime) {
            for order in orders {
                switch order {
                case .watch(let session, let watch):
                    guard state.withLock({ $0.sessions[watch.id] != nil }) else { continue }
                    if let subject = subject(session) {
                        rounds.add(watch, of: session, size: subject.size, newest: subject.frame)
                    } else {
                        rounds.refuse(watch, of: session, .unknownSession)
                    }
                case .unwatch(let id): rounds.remove(id)
                case .interrupt: rounds.interrupt()
                }
            }
            if let frame { rounds.follow(frame) { subject($0)?.size } }
            let answers = rounds.answers(now: MonotonicClock.now)
            guard !answers.isEmpty else { continue }
            state.withLock { state in for answer in answers { state.sessions[answer.report.id] = nil } }
            for (session, report) in answers { send(session, report) }
            changed()
        }
    }

    /// Waits for work, at most until `time`. Returns `nil` if the desk is closing.
    private func next(until time: UInt64?) -> (orders: [Order], frame: CapturedFrame?)? {
        state.wait { state in
            if state.isClosing { return .done(nil) }
            let isDue = time.map { $0 <= MonotonicClock.now } ?? false
            guard isDue || state.frame != nil || !state.orders.isEmpty else { return .wait(until: time) }
            defer { (state.orders, state.frame) = ([], nil) }
            return .done((state.orders, state.frame))
        }
    }
}
