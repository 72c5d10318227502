import Glibc

/// The machine's monotonic clock, shared by all its processes.
package enum MonotonicClock {
    /// The current time, in ns since an arbitrary moment.
    package static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Lets the calling thread sleep for a duration in ns.
    static func sleep(_ duration: UInt64) {
        let end = now + duration
        while true {
            let now = now
            if now >= end { return }
            _ = Poll.wait(for: [], timeout: end - now)
        }
    }
}

extension UInt64 {
    /// Converts milliseconds to ns.
    package static func milliseconds(_ count: some BinaryInteger) -> UInt64 { UInt64(count) * 1_000_000 }
}
