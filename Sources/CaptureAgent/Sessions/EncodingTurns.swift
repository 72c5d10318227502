import Glibc
import Synchronization

/// A limit on how many encoder threads run at the same time, first come, first served.
///
/// When the screen changes, all sessions get a frame at once. In parallel, hundreds of encoders would all finish at the
/// very end, and the threads that send finished pictures would compete with them for a processor.
package final class EncodingTurns: Sendable {
    /// A thread's place in the queue. It belongs to one thread.
    package final class Place: Sendable {
        private let hasTurn = Monitor(false)

        package init() {}

        fileprivate func setTurn(_ value: Bool) {
            hasTurn.update { $0 = value }
        }

        /// Waits until its turn comes or `end` (monotonic ns) is reached.
        ///
        /// - Returns: Whether it has its turn.
        fileprivate func waitForTurn(until end: UInt64?) -> Bool {
            hasTurn.wait { hasTurn in
                if hasTurn { return .done(true) }
                if let end, MonotonicClock.now >= end { return .done(false) }
                return .wait(until: end)
            }
        }
    }

    private struct State: Sendable {
        /// The places that have their turn, and until when each turn counts, in monotonic ns.
        var turns: [(place: Place, end: UInt64)] = []
        var line: [Place] = []
    }

    private let limit: Int
    private let longestTurn: UInt64
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: How many threads have their turn at a time, at least 1. Two for each processor, so that none is idle
    ///     while an encoder waits for memory or a graphics card.
    ///   - longestTurn: How long a turn counts, in ns, so that a hanging encoder does not block the other sessions.
    package init(
        limit: Int = 2 * max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))),
        longestTurn: UInt64 = .milliseconds(1_000)
    ) {
        self.limit = limit
        self.longestTurn = longestTurn
    }

    /// How many threads have their turn, and how many wait.
    package var counts: (turns: Int, waiting: Int) { state.withLock { ($0.turns.count, $0.line.count) } }

    /// Waits for the turn of `place`.
    package func begin(_ place: Place) {
        state.withLock { $0.line.append(place) }
        while true {
            if place.waitForTurn(until: advance()) { return }
        }
    }

    /// Ends the turn of `place`.
    package func end(_ place: Place) {
        place.setTurn(false)
        state.withLock { state in state.turns.removeAll { $0.place === place } }
        advance()
    }

    /// Gives the first places in the queue their turns.
    ///
    /// - Returns: When the first turn stops counting, in monotonic ns.
    @discardableResult
    private func advance() -> UInt64? {
        state.withLock { state in
            let now = MonotonicClock.now
            state.turns.removeAll { $0.end <= now }
            let next = state.line.prefix(limit - state.turns.count)
            for place in next {
                state.turns.append((place, now + longestTurn))
                place.setTurn(true)
            }
            state.line.removeFirst(next.count)
            return state.turns.map(\.end).min()
        }
    }
}
