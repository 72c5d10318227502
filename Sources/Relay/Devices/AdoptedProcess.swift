import Access
import CLinux
import Files
import Glibc
package import NIOCore
import SystemPackage

/// An agent process that the relay started in its former life. It is no child of this one, whose system tells nobody how it ends.
package final class AdoptedProcess {
    package let pid: Int32
    /// A pidfd: unlike the number it never means another process.
    private let descriptor: Int32
    private var killAt: NIODeadline?

    /// - Returns: nil where the process has ended, or cannot be watched.
    package init?(_ identity: ProcessIdentity) {
        let descriptor = clinux_pidfd(identity.pid)
        guard descriptor >= 0 else { return nil }
        pid = identity.pid
        self.descriptor = descriptor
        // Looked at behind the descriptor, which holds on to one process.
        guard ProcessIdentity(pid: identity.pid) == identity, !hasEnded else { return nil }
    }

    deinit { close(descriptor) }

    package var hasEnded: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    /// Sends SIGTERM, and SIGKILL when that does not help.
    package func terminate(now: NIODeadline) {
        guard killAt == nil else { return }
        killAt = now + AgentProcess.terminationGrace
        clinux_signal(descriptor, SIGTERM)
    }

    /// Does what is due. Called now and then.
    package func tick(now: NIODeadline) {
        guard let killAt, now >= killAt else { return }
        clinux_signal(descriptor, SIGKILL)
    }
}

/// A process of this machine's boot, told from later ones of the same number.
package struct ProcessIdentity: Sendable, Equatable, Codable {
    package var pid: Int32
    /// When it started, in clock ticks since the boot: field 22 of proc_pid_stat(5).
    package var started: UInt64

    /// The process that has this number now; nil where there is none.
    package init?(pid: Int32) {
        // The second field is the program's name in parentheses and may hold anything; the third is the first behind it.
        guard let bytes = try? BoundedFile.read(FilePath("/proc/\(pid)/stat"), atMost: 4096),
            let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " "),
            let started = fields.dropFirst(22 - 3).first.flatMap({ UInt64($0) })
        else { return nil }
        self.pid = pid
        self.started = started
    }
}
