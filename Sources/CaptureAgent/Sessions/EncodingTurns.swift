import Glibc
import Synchronization

/// Lets a few encoder threads at a time at the processors, in the order in which they come.
///
/// A screen that changes is new to all sessions at once. Side by side, hundreds of encoders would all be done at the very end, and the threads
/// that pass on what is ready would wait for a processor among them.
package final class EncodingTurns: Sendable {
    /// A thread's place in the line. It belongs to one thread.
    package final class Place: Sendable {
        private let hasTurn = Monitor(false)

        package init() {}

        fileprivate func setTurn(_ value: Bool) {
            hasTurn.update { $0 = value }
        }

        /// Waits until it has its turn or `end` (monotonic ns) is reached. Returns whether it has it.
        fileprivate func waitForTurn(until end: UInt64?) -> Bool {
            hasTurn.wait { hasTurn in
                if hasTurn { return .done(true) }
                if let end, MonotonicClock.now >= end { return .done(false) }
                return .wait(until: end)
            }
        }
    }

    private struct State: Sendable {
        /// Whose turn it is, and until when it counts, monotonic ns.
        var turns: [(place: Place, end: UInt64)] = []
        var line: [Place] = []
    }

    private let limit: Int
    private let longestTurn: UInt64
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: How many have their turn at a time, 1 or more. Two for each processor, so that none is idle while an encoder waits for
    ///     memory or a graphics card.
    ///   - longestTurn: ns after which a turn counts no more: an encoder that hangs must not hold the other sessions up.
    package init(
        limit: Int = 2 * max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))),
        longestTurn: UInt64 = .milliseconds(1_000)
    ) {
        self.limit = limit
        self.longestTurn = longestTurn
    }

    /// How many have their turn, and how many wait for theirs.
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

    /// Gives those in front their turns. Returns when the first turn ceases to count, monotonic ns.
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
