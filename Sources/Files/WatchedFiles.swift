import Glibc

/// Files that are read again when they have changed.
package struct WatchedFiles: Sendable {
    private let paths: [String]
    private var stamps: [FileStamp?]
    /// Whether they are to be read again though they have not changed.
    private var isDue = false

    /// Begins with the files as they are now: made before they are read, so that what is written in between shows at the next look.
    package init(_ paths: [String]) {
        self.paths = paths
        stamps = paths.map(FileStamp.init(path:))
    }

    /// Whether they have changed since the last look, or are to be read again. Costs a stat(2) each.
    package mutating func look() -> Bool {
        let now = paths.map(FileStamp.init(path:))
        guard isDue || now != stamps else { return false }
        stamps = now
        isDue = false
        return true
    }

    /// Has the next look say that they have changed: what could not be read now may be readable then.
    package mutating func readAgain() { isDue = true }
}

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
