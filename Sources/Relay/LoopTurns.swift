import CLinux
import Media
import NIOCore
import NIOPosix
import Synchronization

/// How long an event loop's turns take: from one look at its sockets and timers to the next, all that it does in between.
///
/// In the thread's own processor time, so that a busy machine makes no turn longer.
final class LoopTurns: NIOEventLoopMetricsDelegate {
    struct Figures: Sendable {
        var turns = LatencyHistogram()
        /// The longest turn so far, ns.
        var longest: UInt64 = 0
        /// The thread's processor time at the last turn's end, ns; 0 before the first.
        fileprivate var last: UInt64 = 0
    }

    private let state = Mutex(Figures())

    var figures: Figures { state.withLock { $0 } }

    /// Called in the loop's thread.
    func processedTick(info: NIOEventLoopTickInfo) {
        let now = clinux_thread_time()
        state.withLock { state in
            defer { state.last = now }
            // Before the first turn the thread was set up.
            guard state.last > 0 else { return }
            let turn = now - state.last
            state.turns.add(turn)
            state.longest = max(state.longest, turn)
        }
    }
}
