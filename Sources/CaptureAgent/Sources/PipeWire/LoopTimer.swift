import CPipeWire
import Synchronization

/// A timer in a PipeWire loop that fires once. Used in the loop's thread or under its lock.
struct LoopTimer {
    private let loop: UnsafeMutablePointer<pw_loop>
    private var source: UnsafeMutablePointer<spa_source>?
    private var isSet = false

    /// - Parameter callback: Called with `data` in the loop's thread.
    /// - Returns: `nil` if the system has no timer left.
    init?(
        loop: UnsafeMutablePointer<pw_loop>,
        callback: spa_source_timer_func_t,
        data: UnsafeMutableRawPointer
    ) {
        self.loop = loop
        guard let source = cpw_loop_add_timer(loop, callback, data) else { return nil }
        self.source = source
    }

    /// - Parameter delay: In ns; `nil` stops the timer.
    mutating func set(after delay: UInt64?) {
        // Checked first because it is called for every frame, when there is usually nothing to stop.
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

/// A way to wake a PipeWire loop from any thread.
final class LoopWakeSource: @unchecked Sendable {
    // Unchecked because `source` is touched only under `lock`: a wake-up may race with the destruction.

    private let loop: UnsafeMutablePointer<pw_loop>
    private let lock = Mutex(())
    private var source: UnsafeMutablePointer<spa_source>?

    init(loop: UnsafeMutablePointer<pw_loop>) {
        self.loop = loop
    }

    /// Makes each wake-up call `callback` with `data` in the loop's thread. Must be called under the loop's lock.
    ///
    /// - Returns: `false` if the system has no event left.
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

    /// Removes the event. Must be called under the loop's lock.
    func destroy() {
        lock.withLock { _ in
            if let source { cpw_loop_destroy_source(loop, source) }
            source = nil
        }
    }
}
