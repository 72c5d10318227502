import Synchronization

/// What waits for a program, which takes it by an asynchronous sequence.
///
/// Several tasks may take from it; each element goes to one of them.
final class Mailbox<Queue: MailQueue>: Sendable {
    private struct State {
        var queue: Queue
        var waiters: [(id: UInt64, continuation: CheckedContinuation<Void, Never>)] = []
        var nextID: UInt64 = 0
        /// Why nothing comes any more, after what waits.
        var end: Result<Void, RelayError>?

        /// Removes a waiter, or the first one.
        mutating func takeWaiter(_ id: UInt64? = nil) -> CheckedContinuation<Void, Never>? {
            guard let waiter = waiters.first(where: { id == nil || $0.id == id }) else { return nil }
            waiters.removeAll { $0.id == waiter.id }
            return waiter.continuation
        }
    }

    private let state: Mutex<State>

    init(_ queue: sending Queue) { state = Mutex(State(queue: queue)) }

    /// Changes the queue, and wakes a task that waits.
    func change<Value: Sendable>(_ body: (inout Queue) -> Value) -> Value {
        let (value, waiter) = state.withLock { state in
            let value = body(&state.queue)
            return (value, state.queue.isEmpty ? nil : state.takeWaiter())
        }
        waiter?.resume()
        return value
    }

    /// Ends it. Only the first end counts.
    ///
    /// - Parameter keepsElements: Whether what waits can still be taken.
    func finish(_ end: Result<Void, RelayError>, keepsElements: Bool) {
        let waiters = state.withLock { state in
            state.end = state.end ?? end
            while !keepsElements, state.queue.take() != nil {}
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    /// Returns the next element as soon as there is one; `nil` at the end.
    func next() async throws(RelayError) -> Queue.Element? {
        while true {
            guard !Task.isCancelled else { throw RelayError(.cancelled, "the task was cancelled") }
            switch take() {
            case .element(let element): return element
            case .end(let end):
                try end.get()
                return nil
            case .nothing: break
            }
            await wait()
        }
    }

    private enum Taken {
        case element(Queue.Element)
        case end(Result<Void, RelayError>)
        case nothing
    }

    private func take() -> Taken {
        state.withLock { state in
            if let element = state.queue.take() { return .element(element) }
            return state.end.map { .end($0) } ?? .nothing
        }
    }

    /// Waits until something may have come.
    private func wait() async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard state.queue.isEmpty, state.end == nil, !Task.isCancelled else { return false }
                    state.waiters.append((id, continuation))
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.takeWaiter(id) }?.resume()
        }
    }
}

/// A queue of a ``Mailbox``.
package protocol MailQueue: Sendable {
    associatedtype Element: Sendable

    var isEmpty: Bool { get }
    mutating func take() -> Element?
}
