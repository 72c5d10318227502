/// An end that comes once: any thread may bring it about, look at it and wait for it.
///
/// Unlike an ``Event`` it takes no descriptor, and looking at it takes no system call.
package final class Completion: Sendable {
    private let state = Monitor(false)

    package init() {}

    /// Brings the end about. Safe in any thread.
    package func set() {
        state.update { $0 = true }
    }

    package var isSet: Bool { state.withLock { $0 } }

    /// Waits for the end.
    package func wait() {
        state.wait { $0 ? .done(()) : .wait(until: nil) }
    }
}
