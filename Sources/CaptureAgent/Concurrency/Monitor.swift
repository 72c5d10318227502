import Glibc

/// State behind a mutex, with a condition to wait for: how the frame threads meet.
///
/// A blocked thread wakes in tens of microseconds. An actor's task on a busy machine takes milliseconds.
final class Monitor<State: Sendable>: @unchecked Sendable {
    // Unchecked because the compiler cannot see that `state` is touched only under `mutex`.

    /// What a waiting thread does next.
    enum Progress<Result> {
        case done(Result)
        /// Sleep until a signal or until that time (monotonic ns), then look again.
        case wait(until: UInt64?)
    }

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    init(_ state: State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the state.
    func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Runs `body` with exclusive access to the state, then wakes the waiting threads.
    func update<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        // After unlocking, because a thread that wakes while the lock is held would sleep again at once.
        defer { wake() }
        return try withLock(body)
    }

    /// Wakes the waiting threads, so that they look at the state again.
    func wake() {
        pthread_cond_broadcast(condition)
    }

    /// Runs `body` with exclusive access to the state, and again after every wake-up, until it is done.
    func wait<Result>(_ body: (inout State) -> Progress<Result>) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            switch body(&state) {
            case .done(let result):
                return result
            case .wait(until: nil):
                pthread_cond_wait(condition, mutex)
            case .wait(until: let deadline?):
                var time = timespec(
                    tv_sec: Int(deadline / 1_000_000_000),
                    tv_nsec: Int(deadline % 1_000_000_000)
                )
                pthread_cond_timedwait(condition, mutex, &time)
            }
        }
    }
}
