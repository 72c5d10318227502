import CLinux
import Glibc

/// A wrapper of `ppoll` for a few descriptors.
enum Poll {
    struct Interest {
        var descriptor: Int32
        var events: Int16

        /// - Parameter events: `POLLIN`, `POLLOUT` or both.
        init(_ descriptor: Int32, events: Int32 = POLLIN) {
            self.descriptor = descriptor
            self.events = Int16(events)
        }
    }

    /// Waits until one of `interests` is ready or `timeout` ns have passed (`nil`: no limit).
    ///
    /// - Returns: For each interest, whether it is ready, hung up or broken. An interrupted wait returns early, all
    ///   `false`.
    static func wait(for interests: [Interest], timeout: UInt64?) -> [Bool] {
        var descriptors = interests.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
        let count = nfds_t(descriptors.count)
        if let timeout {
            var time = timespec(tv_sec: Int(timeout / 1_000_000_000), tv_nsec: Int(timeout % 1_000_000_000))
            clinux_ppoll(&descriptors, count, &time)
        } else {
            clinux_ppoll(&descriptors, count, nil)
        }
        return descriptors.map { $0.revents != 0 }
    }
}
