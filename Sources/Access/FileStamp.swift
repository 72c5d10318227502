import Glibc

/// What changes whenever a file is written or replaced, or cannot be looked at any more. Costs one stat(2).
package struct FileStamp: Sendable, Equatable {
    /// Why it cannot be looked at: an errno(3), 0 where it can.
    private let fault: Int32
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: [Int]
    /// Mode and owner may change without the contents.
    private let changed: [Int]

    /// Nil when there is no such file.
    package init?(path: String) {
        var status = Glibc.stat()
        fault = stat(path, &status) == 0 ? 0 : errno
        guard fault != ENOENT else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}
