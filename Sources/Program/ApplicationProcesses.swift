import CLinux
import Glibc

/// The processes of an application that was launched on a device's desktop.
///
/// The launched process carries the application's id in its environment, which its descendants inherit. So they are
/// found at any time, by whichever process looks, also after they have left their process group. Members of the first
/// process's session count too while that process lives, because a descendant may clear its environment.
package struct ApplicationProcesses: Sendable {
    /// The environment variable with the id.
    package static let variable = "HELIOGRAPH_APPLICATION"
    /// How long the processes have to end after SIGTERM, in ns.
    package static let grace: UInt64 = 5_000_000_000
    /// How long they may take to end after SIGKILL, in ns.
    private static let killTime: UInt64 = 2_000_000_000
    /// The pause between two looks at processes that end, in µs. It grows, because each look reads all of /proc.
    private static let shortestPause: UInt32 = 20_000
    private static let longestPause: UInt32 = 200_000

    private let mark: String
    /// The process that was launched; `nil` if it is unknown.
    private let first: ProcessIdentity?
    private let isTrusted: Bool

    /// - Parameter isTrusted: Whether this process has launched `first` itself. Otherwise `first` needs the mark,
    ///   because another user's agent may have reported it, and must not choose a process.
    package init(id: String, first: ProcessIdentity?, isTrusted: Bool = false) {
        mark = "\(Self.variable)=\(id)"
        self.first = first
        self.isTrusted = isTrusted
    }

    /// Whether one of them runs.
    package var areRunning: Bool { isFirstAlive || !all.isEmpty }

    /// Returns whether a process is one of them.
    package func contains(_ pid: Int32) -> Bool { Search(for: [self]).finds(pid) }

    /// The ids of all that run.
    package var all: [Int32] { Search(for: [self]).found }

    private var isFirstAlive: Bool {
        guard let first, let status = ProcessStatus(of: first.pid) else { return false }
        return status.started == first.started && !status.hasEnded
            && (isTrusted || ProcessTable.environment(of: first.pid, holdsAnyOf: [mark]))
    }

    /// What identifies the processes of applications at this moment.
    private struct Search {
        /// The sessions of first processes that live.
        private let sessions: [Int32]
        private let marks: [String]

        init(for applications: [ApplicationProcesses]) {
            sessions = applications.compactMap { $0.isFirstAlive ? $0.first?.pid : nil }
            marks = applications.map(\.mark)
        }

        var found: [Int32] { ProcessTable.pids.filter(finds) }

        func finds(_ pid: Int32) -> Bool {
            guard let status = ProcessStatus(of: pid), !status.hasEnded else { return false }
            return sessions.contains(status.session) || ProcessTable.environment(of: pid, holdsAnyOf: marks)
        }
    }

    /// Ends all processes of applications: by SIGTERM, and after ``grace`` by SIGKILL.
    ///
    /// A signal goes to a pidfd that was checked after it was opened, so it never reaches a process that has got the
    /// number of one that has ended.
    ///
    /// - Parameter isUrgent: Asked now and then; `true` ends the time after SIGTERM.
    /// - Returns: Whether none is left.
    package static func end(_ applications: [Self], isUrgent: () -> Bool = { false }) -> Bool {
        var held: [Int32: Int32] = [:]
        defer { for descriptor in held.values { close(descriptor) } }
        let start = now
        var pause = shortestPause
        var killEnd: UInt64?
        while true {
            for (pid, descriptor) in held where hasEnded(descriptor) {
                close(descriptor)
                held[pid] = nil
            }
            var fresh: [Int32] = []
            let found = Search(for: applications).found
            for pid in found where held[pid] == nil {
                let descriptor = clinux_pidfd(pid)
                guard descriptor >= 0 else { continue }
                guard Search(for: applications).finds(pid) else {
                    close(descriptor)
                    continue
                }
                held[pid] = descriptor
                fresh.append(descriptor)
            }
            guard !held.isEmpty || !found.isEmpty else { return true }
            if let killEnd {
                for descriptor in held.values { _ = clinux_signal(descriptor, SIGKILL) }
                if now >= killEnd { return false }
            } else {
                for descriptor in fresh { _ = clinux_signal(descriptor, SIGTERM) }
                if now &- start >= grace || isUrgent() {
                    killEnd = now &+ killTime
                    pause = shortestPause
                    continue
                }
            }
            usleep(pause)
            pause = min(pause &* 2, longestPause)
        }
    }

    private static func hasEnded(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    /// Monotonic ns.
    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}

/// The identity of a process on this boot, which a later process with the same number does not share.
package struct ProcessIdentity: Sendable, Equatable, Codable {
    package var pid: Int32
    /// The process's start, in clock ticks since the boot: field 22 of proc_pid_stat(5).
    package var started: UInt64

    package init(pid: Int32, started: UInt64) {
        self.pid = pid
        self.started = started
    }

    /// Reads the identity of the process with this number; `nil` if there is none.
    package init?(pid: Int32) {
        guard let status = ProcessStatus(of: pid) else { return nil }
        self.init(pid: pid, started: status.started)
    }
}

/// What proc_pid_stat(5) says about a process.
package struct ProcessStatus: Sendable, Equatable {
    /// Whether it only waits until its parent asks how it has ended.
    package let hasEnded: Bool
    package let session: Int32
    /// In clock ticks since the boot.
    package let started: UInt64

    fileprivate init?(of pid: Int32) {
        guard let bytes = ProcessTable.read("/proc/\(pid)/stat", atMost: 4096) else { return nil }
        self.init(bytes)
    }

    /// Parses the file's bytes.
    package init?(_ bytes: [UInt8]) {
        // The second field is the program's name in parentheses and may hold anything; the third follows it.
        guard let name = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = bytes[name...].split(separator: UInt8(ascii: " ")).dropFirst().map { field in
            String(decoding: field.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        }
        // The first one here is the third of the page.
        guard fields.count > 22 - 3, let session = Int32(fields[6 - 3]), let started = UInt64(fields[22 - 3]) else {
            return nil
        }
        hasEnded = ["Z", "X", "x"].contains(fields[0])
        self.session = session
        self.started = started
    }
}

/// The machine's processes, as /proc shows them.
package enum ProcessTable {
    /// The longest environment that is read, in bytes.
    private static let longestEnvironment = 4 << 20

    /// The ids of all processes.
    static var pids: [Int32] {
        guard let folder = opendir("/proc") else { return [] }
        defer { closedir(folder) }
        var pids: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let pid = Int32(name) { pids.append(pid) }
        }
        return pids
    }

    static func environment(of pid: Int32, holdsAnyOf wanted: [String]) -> Bool {
        read("/proc/\(pid)/environ", atMost: longestEnvironment).map { lines($0, containAnyOf: wanted) } ?? false
    }

    /// Returns whether one of the lines, each with a NUL at its end, is among the wanted ones.
    package static func lines(_ bytes: [UInt8], containAnyOf wanted: [String]) -> Bool {
        bytes.split(separator: 0).contains { line in wanted.contains { line.elementsEqual($0.utf8) } }
    }

    /// Reads a file; `nil` if that is not possible, or if it is longer.
    static func read(_ path: String, atMost limit: Int) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: min(limit, 16 << 10))
        while true {
            let count = Glibc.read(file, &part, part.count)
            if count == 0 { return bytes }
            guard count > 0, bytes.count &+ count <= limit else { return nil }
            bytes += part[..<count]
        }
    }
}
