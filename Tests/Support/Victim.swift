import Foundation

/// Actions against other processes.
package enum Victim {
    /// Signals a process.
    ///
    /// - Throws: If `pid` names no process. An agent that is not linked has the pid 0, which stands for this process's
    ///   own group: the signal would end the test run silently.
    package static func signal(_ pid: Int32, _ signal: Int32) throws {
        guard pid > 1 else { throw NeverCame(description: "no process to signal") }
        kill(pid, signal)
    }

    /// Resets a TCP connection of `pid` to `port` without its knowledge: the kernel answers with a reset, as after a
    /// broken path.
    ///
    /// Connecting a socket to no address resets it (connect(2), AF_UNSPEC); a copy of the process's descriptor is the
    /// same socket (pidfd_getfd(2)).
    package static func resetConnection(of pid: Int32, toPort port: Int) -> Bool {
        typealias Open = @convention(c) (pid_t, UInt32) -> Int32
        typealias Get = @convention(c) (Int32, Int32, UInt32) -> Int32
        // Swift's Glibc module leaves these out.
        guard let open = dlsym(nil, "pidfd_open"), let get = dlsym(nil, "pidfd_getfd") else { return false }
        let process = unsafeBitCast(open, to: Open.self)(pid, 0)
        guard process >= 0 else { return false }
        defer { close(process) }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")) ?? []
        for number in names.compactMap({ Int32($0) }) {
            let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\(number)")
            guard link?.hasPrefix("socket:") == true else { continue }
            let copy = unsafeBitCast(get, to: Get.self)(process, number, 0)
            guard copy >= 0 else { continue }
            defer { close(copy) }
            guard peerPort(copy) == port else { continue }
            var nowhere = sockaddr(sa_family: sa_family_t(AF_UNSPEC), sa_data: sockaddr().sa_data)
            return connect(copy, &nowhere, socklen_t(MemoryLayout<sockaddr>.size)) == 0
        }
        return false
    }

    private static func peerPort(_ descriptor: Int32) -> Int? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        guard result == 0, address.sin_family == sa_family_t(AF_INET) else { return nil }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Returns the greatest descriptor number that a process has open.
    package static func highestDescriptor(of pid: Int32) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").compactMap { Int($0) }.max() ?? 0
    }

    /// Returns the CPU time that a process has used, in seconds.
    package static func processorTime(of pid: Int32) -> Double {
        var clock = clockid_t()
        guard clock_getcpuclockid(pid, &clock) == 0 else { return 0 }
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
