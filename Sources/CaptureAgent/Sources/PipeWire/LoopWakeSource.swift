import CPipeWire
import Synchronization

/// Wakes a PipeWire loop from any thread.
final class LoopWakeSource: @unchecked Sendable {
    // Unchecked because `source` is touched only under `lock`: a wake-up may race with the destruction.

    private let loop: UnsafeMutablePointer<pw_loop>
    private let lock = Mutex(())
    private var source: UnsafeMutablePointer<spa_source>?

    init(loop: UnsafeMutablePointer<pw_loop>) {
        self.loop = loop
    }

    /// From now on, a wake-up calls `callback` with `data` in the loop's thread. Called under the loop's lock.
    ///
    /// - Returns: false where the system has no event for it.
    func attach(callback: spa_source_event_func_t, data: UnsafeMutableRawPointer) -> Bool {
        lock.withLock { _ in
            source = cpw_loop_add_event(loop, callback, data)
            return source != nil
        }
    }

    func wake() {
        lock.withLock { _ in
            if let source { _ = cpw_loop_signal_event(loop, source) }
        }
    }

    /// Called under the loop's lock.
    func destroy() {
        lock.withLock { _ in
            if let source { cpw_loop_destroy_source(loop, source) }
            source = nil
        }
    }
}
