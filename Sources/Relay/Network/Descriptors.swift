import Glibc

/// The file descriptors that this process may still open.
enum Descriptors {
    /// More than starting a process opens: /dev/null twice, pipes, the process's own, and one for the first wait on its
    /// end.
    static let ofAStart = 16
    /// How many descriptors viewers and calls leave for agents: their starts, their links, and the state file.
    static let reserve = 3 * ofAStart

    /// Whether more descriptors are free than the reserve, or than a third of an unusually low limit.
    static var exceedReserve: Bool {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return true }
        let most = Int(clamping: limit.rlim_cur)
        // A new descriptor gets the lowest free number.
        let next = fcntl(0, F_DUPFD_CLOEXEC, 0)
        guard next >= 0 else { return errno != EMFILE && errno != ENFILE }
        close(next)
        return Int(next) < most - min(reserve, most / 3)
    }

    /// Returns whether `count` descriptors can be opened now.
    static func areFree(_ count: Int) -> Bool {
        var copies: [CInt] = []
        defer { for copy in copies { close(copy) } }
        for _ in 0..<count {
            let copy = fcntl(0, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else { return errno != EMFILE && errno != ENFILE }
            copies.append(copy)
        }
        return true
    }
}
