package import NIOCore
import NIOPosix

/// The one event loop that owns every broadcast, session, viewer and agent link.
///
/// An access unit goes from the agent's socket to the viewers' sockets on this thread, without a lock and without a hop: all that
/// it touches is isolated to this actor, whose executor is the event loop itself. HTTP runs elsewhere and calls in with `await`.
@globalActor
package actor MediaLoop {
    package static let shared = MediaLoop()

    static let turns = LoopTurns()
    /// Lives as long as the process, as actors do.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1, metricsDelegate: turns)
    package static let eventLoop: any EventLoop = group.next()

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        Self.eventLoop.executor.asUnownedSerialExecutor()
    }

    /// Runs `operation` at once. The caller is on the event loop, as channel handlers and scheduled tasks are; anything else traps.
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

    /// Has `handler` called on the loop at `deadline` unless the result is cancelled before: costs less than a task, and nobody can wait for it.
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
