import CLinux
import Glibc
package import NIOCore
package import Program

/// An agent process that a previous relay started. It is not a child of this one, so its exit status is unknown.
package final class AdoptedProcess {
    package let pid: Int32
    /// A pidfd. Unlike the process number, it never refers to another process.
    private let descriptor: Int32
    private var killAt: NIODeadline?

    /// Adopts a process.
    ///
    /// - Returns: `nil` if the process has ended, or cannot be watched.
    package init?(_ identity: ProcessIdentity) {
        let descriptor = clinux_pidfd(identity.pid)
        guard descriptor >= 0 else { return nil }
        pid = identity.pid
        self.descriptor = descriptor
        // Checked after the descriptor is open, because that pins the process.
        guard ProcessIdentity(pid: identity.pid) == identity, !hasEnded else { return nil }
    }

    deinit { close(descriptor) }

    package var hasEnded: Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    /// Sends SIGTERM, then SIGKILL if the process does not end in time.
    package func terminate(now: NIODeadline) {
        guard killAt == nil else { return }
        killAt = now + AgentProcess.terminationGrace
        clinux_signal(descriptor, SIGTERM)
    }

    /// Does what is due. Called periodically.
    package func tick(now: NIODeadline) {
        guard let killAt, now >= killAt else { return }
        clinux_signal(descriptor, SIGKILL)
    }
}
