import Glibc

/// Files that are read again when they have changed.
package struct WatchedFiles: Sendable {
    private let paths: [String]
    private var stamps: [FileStamp?]
    /// Whether they must be read again although they have not changed.
    private var isDue = false

    /// Records the files' current state. Create it before reading them, so that the next look shows what is written in
    /// between.
    package init(_ paths: [String]) {
        self.paths = paths
        stamps = paths.map(FileStamp.init(path:))
    }

    /// Returns whether they have changed since the last look, or must be read again. Costs one stat(2) per file.
    package mutating func look() -> Bool {
        let now = paths.map(FileStamp.init(path:))
        guard isDue || now != stamps else { return false }
        stamps = now
        isDue = false
        return true
    }

    /// Makes the next look report a change, because a file that cannot be read now may be readable then.
    package mutating func readAgain() { isDue = true }
}

/// The properties that change whenever a file is written or replaced, or becomes inaccessible. Costs one stat(2).
package struct FileStamp: Sendable, Equatable {
    /// Why the file cannot be accessed: an errno(3), 0 if it can.
    private let fault: Int32
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: [Int]
    /// The mode and owner may change without the contents.
    private let changed: [Int]

    /// Returns `nil` if there is no such file.
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
