import Glibc
package import SystemPackage

/// A file that is replaced as a whole, so that a reader finds either the old file or the new one. It must have one
/// writer at a time.
package enum ReplacedFile {
    /// Creates the folder that contains `path` if it is missing, accessible to its owner only.
    ///
    /// If root runs this, the owner of the surrounding folder also owns the new one.
    package static func createFolder(of path: FilePath) throws {
        var around = path.removingLastComponent()
        var missing: [FilePath.Component] = []
        while let name = around.lastComponent, isMissing(around) {
            missing.append(name)
            around.removeLastComponent()
        }
        guard !missing.isEmpty else { return }
        var folder = try open(folder: around)
        defer { try? folder.close() }
        for name in missing.reversed() {
            let inner = try create(name.string, in: folder)
            try? folder.close()
            folder = inner
        }
    }

    /// Locks the folder that contains `path`, and creates it if it is missing. Waits while another program holds the
    /// lock.
    ///
    /// The folder itself is locked, because a separate lock file would be left over. Closing the descriptor ends the
    /// lock.
    package static func lockFolder(of path: FilePath) throws -> SystemPackage.FileDescriptor {
        try createFolder(of: path)
        let folder = try open(folder: path.removingLastComponent())
        guard flock(folder.rawValue, LOCK_EX) == 0 else {
            let fault = Errno(rawValue: errno)
            try? folder.close()
            throw fault
        }
        return folder
    }

    private static func isMissing(_ path: FilePath) -> Bool {
        var status = Glibc.stat()
        return stat(path.string, &status) != 0 && errno == ENOENT
    }

    private static func open(folder path: FilePath) throws -> SystemPackage.FileDescriptor {
        try .open(path.isEmpty ? "." : path, .readOnly, options: [.directory, .closeOnExec])
    }

    /// Creates or opens a folder in `folder`.
    ///
    /// The owner of the surrounding folder may replace the new one at any time. So it is opened without following
    /// links, and its path is not looked up again.
    private static func create(_ name: String, in folder: SystemPackage.FileDescriptor) throws
        -> SystemPackage.FileDescriptor
    {
        let isNew = mkdirat(folder.rawValue, name, 0o700) == 0
        guard isNew || errno == EEXIST else { throw Errno(rawValue: errno) }
        let opened = openat(folder.rawValue, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else { throw Errno(rawValue: errno) }
        let inner = SystemPackage.FileDescriptor(rawValue: opened)
        var owner = Glibc.stat()
        guard
            !isNew || geteuid() != 0
                || fstat(folder.rawValue, &owner) == 0 && fchown(opened, owner.st_uid, owner.st_gid) == 0
        else {
            let fault = Errno(rawValue: errno)
            try? inner.close()
            throw fault
        }
        return inner
    }

    /// Replaces the file at `path` with a file that contains `bytes`, once it is on the disk.
    ///
    /// - Parameter prepare: Called with the new file before it replaces the old one.
    /// - Throws: `Errno`, and what `prepare` throws. The old file then stays.
    package static func write(
        _ bytes: [UInt8],
        to path: FilePath,
        permissions: FilePermissions = .ownerReadWrite,
        prepare: (SystemPackage.FileDescriptor) throws -> Void = { _ in }
    ) throws {
        let draft = FilePath(path.string + ".new")
        // A program that was killed while writing may have left a draft with other permissions.
        unlink(draft.string)
        let file = try SystemPackage.FileDescriptor.open(
            draft,
            .writeOnly,
            options: [.create, .exclusiveCreate],
            permissions: permissions
        )
        do {
            try file.closeAfter {
                try file.writeAll(bytes)
                try prepare(file)
                guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
            }
            guard rename(draft.string, path.string) == 0 else { throw Errno(rawValue: errno) }
        } catch {
            unlink(draft.string)
            throw error
        }
        try sync(folderOf: path)
    }

    /// Syncs the folder's entries to the disk, because a crash of the machine could otherwise bring the old file back.
    package static func sync(folderOf path: FilePath) throws {
        let folder = try open(folder: path.removingLastComponent())
        try folder.closeAfter {
            // A file system that does not sync folders keeps their entries safe itself (fsync(2)).
            guard fsync(folder.rawValue) == 0 || errno == EINVAL else { throw Errno(rawValue: errno) }
        }
    }
}
