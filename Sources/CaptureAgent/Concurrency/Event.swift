import CLinux
import Glibc

/// A manual-reset event: any thread may set it, for good, and `poll` can wait for it.
package final class Event: Sendable {
    /// Readable once the event is set; for `poll` only.
    package let descriptor: Int32

    package init() {
        descriptor = clinux_eventfd()
        precondition(descriptor >= 0, "the system refuses an event descriptor: \(String(cString: strerror(errno)))")
    }

    deinit {
        close(descriptor)
    }

    /// Sets the event. Safe in any thread.
    package func set() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    package var isSet: Bool {
        Poll.wait(for: [Poll.Interest(descriptor)], timeout: 0).first == true
    }

    /// Waits until the event is set or `deadline` (monotonic ns) is reached. Returns whether it is set.
    package func wait(until deadline: UInt64) -> Bool {
        while true {
            let now = MonotonicClock.now
            if Poll.wait(for: [Poll.Interest(descriptor)], timeout: deadline > now ? deadline - now : 0)[0] {
                return true
            }
            if MonotonicClock.now >= deadline { return false }
        }
    }
}
