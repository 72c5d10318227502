import Glibc

/// The file descriptors that this process may still open.
enum Descriptors {
    /// More than starting a process opens: /dev/null twice, pipes, the process's own, and the first time what its end is waited for with.
    static let ofAStart = 16
    /// What connections of viewers and calls leave for agents: their starts, their links, and the state file.
    static let reserve = 3 * ofAStart

    /// Whether there are more than the reserve, or more than a third of a limit that is lower than most.
    static var exceedReserve: Bool {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return true }
        let most = Int(clamping: limit.rlim_cur)
        // The lowest free number is what the next one gets.
        let next = fcntl(0, F_DUPFD_CLOEXEC, 0)
        guard next >= 0 else { return errno != EMFILE && errno != ENFILE }
        close(next)
        return Int(next) < most - min(reserve, most / 3)
    }

    /// Whether so many can be opened now.
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
