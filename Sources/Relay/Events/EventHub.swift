import Access
package import HeliographAPI
import NIOCore
import Synchronization

/// Takes events from all parts of the relay and wakes listeners. Each listener reads the ring at its own pace, so a
/// slow one delays nothing.
package final class EventHub: Sendable {
    /// One listener.
    package struct Listener: Hashable, Sendable {
        fileprivate let id: Int
    }

    private struct State {
        var ring = EventRing()
        var lastListener = 0
        /// The listeners, with the continuations of those that wait.
        var listeners: [Listener: CheckedContinuation<Void, Never>?] = [:]
        /// Whether a task is about to wake the waiting listeners.
        var isWaking = false
        var isClosed = false
    }

    /// Distinguishes this relay's events from those of its previous runs.
    package let instance = Hexadecimal.text(of: randomBytes(4))
    private let state = Mutex(State())

    package init() {}

    /// Whether no more events will come, because the relay ends.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// The number of the last event; 0 before the first.
    var last: UInt64 { state.withLock { $0.ring.last } }

    /// The number of listeners.
    package var count: Int { state.withLock { $0.listeners.count } }

    /// Records that something has happened. Cheap on any thread: another thread wakes the listeners.
    package func publish(
        _ kind: EventReport.Kind,
        device: String? = nil,
        session: UInt32? = nil,
        name: String? = nil,
        state word: String? = nil
    ) {
        var report = EventReport()
        report.type = kind.rawValue
        report.at = NIODeadline.now().wallClockText
        (report.device, report.session, report.name, report.state) = (device, session, name, word)
        let wakes = state.withLock { state in
            state.ring.add(report)
            return Self.beginsToWake(&state)
        }
        if wakes { Task.detached { self.resumeAll() } }
    }

    /// Wakes all waiting listeners. Called periodically, because a client that is gone is only noticed when something
    /// is sent to it.
    package func wake() {
        if state.withLock({ Self.beginsToWake(&$0) }) { Task.detached { self.resumeAll() } }
    }

    private static func beginsToWake(_ state: inout State) -> Bool {
        guard !state.isWaking, !state.listeners.isEmpty else { return false }
        state.isWaking = true
        return true
    }

    private func resumeAll() {
        let waiting = state.withLock { state in
            state.isWaking = false
            return state.listeners.compactMap { listener, continuation in
                if continuation != nil { state.listeners[listener] = .some(nil) }
                return continuation
            }
        }
        for continuation in waiting { continuation.resume() }
    }

    // MARK: Listening

    /// Adds a listener.
    ///
    /// - Returns: The listener, and the number of the last event.
    package func join() -> (listener: Listener, last: UInt64) {
        state.withLock { state in
            state.lastListener += 1
            let listener = Listener(id: state.lastListener)
            state.listeners[listener] = .some(nil)
            return (listener, state.ring.last)
        }
    }

    package func leave(_ listener: Listener) {
        let continuation = state.withLock { $0.listeners.removeValue(forKey: listener) ?? nil }
        continuation?.resume()
    }

    /// Returns the events after a number; see ``EventRing/events(after:_:)``. The last number is how far it has looked.
    package func events(after number: UInt64, _ filter: EventRing.Filter)
        -> (events: [EventRing.Event], missed: UInt64, last: UInt64)
    {
        state.withLock { state in
            let (events, missed) = state.ring.events(after: number, filter)
            return (events, missed, max(number, state.ring.last))
        }
    }

    /// Waits until an event after a number may exist, or for a while.
    ///
    /// - Returns: Whether the listener still exists and more events may come.
    package func wait(_ listener: Listener, after number: UInt64) async -> Bool {
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                guard !state.isClosed, state.listeners[listener] != nil, state.ring.last <= number else { return false }
                state.listeners[listener] = .some(continuation)
                return true
            }
            if !waits { continuation.resume() }
        }
        return state.withLock { !$0.isClosed && $0.listeners[listener] != nil }
    }

    /// Ends all streams of events when the relay ends.
    package func close() {
        state.withLock { $0.isClosed = true }
        wake()
    }
}
