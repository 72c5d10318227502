import CLinux
import Glibc

/// A manual-reset event: any thread may set it, and `poll` can wait for it.
package final class Event: Sendable {
    /// A descriptor that is readable once the event is set; for `poll` only.
    package let descriptor: Int32

    package init() throws(ResourceShortage) {
        descriptor = clinux_eventfd()
        guard descriptor >= 0 else { throw .descriptors(String(cString: strerror(errno))) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Sets the event. Safe to call from any thread.
    package func set() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Resets the event. The waiting thread must call this before it reads the state that the event announced.
    package func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    }

    package var isSet: Bool {
        Poll.wait(for: [Poll.Interest(descriptor)], timeout: 0).first == true
    }

    /// Waits until the event is set.
    package func wait() {
        _ = Event.wait(forAnyOf: [self], until: nil)
    }

    /// Waits until the event is set or `deadline` (monotonic ns) is reached.
    ///
    /// - Returns: Whether the event is set.
    package func wait(until deadline: UInt64) -> Bool {
        Event.wait(forAnyOf: [self], until: deadline)
    }

    /// Waits until one of `events` is set or `deadline` is reached.
    ///
    /// - Parameter deadline: Monotonic ns; `nil` for none.
    /// - Returns: Whether one of the events is set.
    package static func wait(forAnyOf events: [Event], until deadline: UInt64?) -> Bool {
        let interests = events.map { Poll.Interest($0.descriptor) }
        while true {
            let now = MonotonicClock.now
            let timeout = deadline.map { $0 > now ? $0 - now : 0 }
            if Poll.wait(for: interests, timeout: timeout).contains(true) { return true }
            if let deadline, MonotonicClock.now >= deadline { return false }
        }
    }
}
