import Access
import SystemPackage

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
