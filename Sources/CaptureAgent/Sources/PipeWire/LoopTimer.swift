import CPipeWire
import Synchronization

/// A timer in a PipeWire loop that fires once. Used in the loop's thread or under its lock.
struct LoopTimer {
    private let loop: UnsafeMutablePointer<pw_loop>
    private var source: UnsafeMutablePointer<spa_source>?
    private var isSet = false

    /// - Parameter callback: Called with `data` in the loop's thread.
    /// - Returns: nil where the system has no timer.
    init?(
        loop: UnsafeMutablePointer<pw_loop>,
        callback: spa_source_timer_func_t,
        data: UnsafeMutableRawPointer
    ) {
        self.loop = loop
        guard let source = cpw_loop_add_timer(loop, callback, data) else { return nil }
        self.source = source
    }

    /// - Parameter delay: ns; nil stops it.
    mutating func set(after delay: UInt64?) {
        // With every frame there is nothing to stop.
        guard let source, delay != nil || isSet else { return }
        isSet = delay != nil
        let delay = delay ?? 0
        _ = cpw_loop_update_timer(loop, source, Int(delay / 1_000_000_000), Int(delay % 1_000_000_000))
    }

    mutating func destroy() {
        if let source { cpw_loop_destroy_source(loop, source) }
        source = nil
    }
}

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
