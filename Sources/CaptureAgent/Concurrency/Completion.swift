/// A one-time completion flag that any thread may set, read and wait for.
///
/// Unlike an ``Event``, it needs no file descriptor, and reading it makes no system call.
package final class Completion: Sendable {
    private let state = Monitor(false)

    package init() {}

    /// Marks it as complete. Safe to call from any thread.
    package func set() {
        state.update { $0 = true }
    }

    package var isSet: Bool { state.withLock { $0 } }

    /// Waits until it is complete.
    package func wait() {
        state.wait { $0 ? .done(()) : .wait(until: nil) }
    }
}
