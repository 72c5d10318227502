import Glibc

/// The CPU time that a process has used in user and kernel mode, including threads that have ended.
package struct ProcessClock {
    private let clock: clockid_t

    package init(pid: Int32) throws {
        var clock = clockid_t()
        let result = clock_getcpuclockid(pid, &clock)
        guard result == 0 else {
            throw NeverCame(description: "no process \(pid): \(String(cString: strerror(result)))")
        }
        self.clock = clock
    }

    /// In ns.
    package var used: Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
