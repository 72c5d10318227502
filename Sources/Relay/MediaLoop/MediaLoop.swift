import CLinux
import Media
package import NIOCore
import NIOPosix
import Synchronization

/// The one event loop that owns every broadcast, session, viewer and agent link.
///
/// An access unit goes from the agent's socket to the viewers' sockets on this thread, without a lock and without
/// changing threads. All that it touches is isolated to this actor, whose executor is the event loop itself. HTTP runs
/// elsewhere and calls in with `await`.
@globalActor
package actor MediaLoop {
    package static let shared = MediaLoop()

    static let turns = LoopTurns()
    /// The event loop's group. It lives as long as the process, as actors do.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1, metricsDelegate: turns)
    package static let eventLoop: any EventLoop = group.next()

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        Self.eventLoop.executor.asUnownedSerialExecutor()
    }

    /// Runs `operation` at once. The caller must be on the event loop, as channel handlers and scheduled tasks are;
    /// otherwise it traps.
    package static func assumeIsolated<Result: Sendable>(
        _ operation: @MediaLoop () throws -> Result
    ) rethrows -> Result {
        eventLoop.preconditionInEventLoop()
        return try withoutActuallyEscaping(operation) { operation in
            // Safe because the isolation is part of the type only, and the precondition has just established it.
            try unsafeBitCast(operation, to: (() throws -> Result).self)()
        }
    }

    /// Runs `operation` on the loop at `deadline` unless the result is cancelled before.
    @discardableResult
    static func schedule(at deadline: NIODeadline, _ operation: @escaping @MediaLoop @Sendable () -> Void) -> Scheduled<
        Void
    > {
        eventLoop.scheduleTask(deadline: deadline) { assumeIsolated(operation) }
    }

    /// Calls `handler` on the loop at `deadline` unless the result is cancelled before. It costs less than a task, but
    /// cannot be awaited.
    static func schedule(
        _ handler: some NIOScheduledCallbackHandler & Sendable,
        at deadline: NIODeadline
    ) -> NIOScheduledCallback {
        do {
            return try eventLoop.scheduleCallback(at: deadline, handler: handler)
        } catch {
            preconditionFailure("the media loop lives as long as the process: \(error)")
        }
    }
}

/// Measures an event loop's turns: all its work from one check of its sockets and timers to the next.
///
/// It uses the thread's own processor time, so that a busy machine makes no turn longer.
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

    /// Ends a turn. Called on the loop's thread.
    func processedTick(info: NIOEventLoopTickInfo) {
        let now = clinux_thread_time()
        state.withLock { state in
            defer { state.last = now }
            // Before the first turn the thread was being set up.
            guard state.last > 0 else { return }
            let turn = now - state.last
            state.turns.add(turn)
            state.longest = max(state.longest, turn)
        }
    }
}
