import Glibc
package import SystemPackage

/// A file that is replaced as a whole: who reads it finds the old one or the new one. It has one writer at a time.
package enum ReplacedFile {
    /// Makes the folder that `path` is in, for its user alone, where it is not there. Done by root, it is the owner's of the folder around it.
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

    /// Locks the folder that `path` is in, once no other program has it locked; makes it where it is not there. Closing the descriptor ends the lock.
    ///
    /// The folder itself is locked: a file of its own would be left behind.
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
        try .open(path.isEmpty ? "." : path, .readOnly, options: [.directory])
    }

    /// Whoever owns the folder around may put something else in the new one's place: what is there is never looked up by its path again.
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

    /// Puts a file with `bytes` in the place of what is at `path`, once it is on the disk.
    ///
    /// - Parameter prepare: Is called with the new file before it is there for all.
    /// - Throws: `Errno`, and what `prepare` throws; then the old one stays.
    package static func write(
        _ bytes: [UInt8],
        to path: FilePath,
        permissions: FilePermissions = .ownerReadWrite,
        prepare: (SystemPackage.FileDescriptor) throws -> Void = { _ in }
    ) throws {
        let draft = FilePath(path.string + ".new")
        // What a program left that was killed while it wrote may have other permissions by now.
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

    /// Has the folder's entries on the disk: without that a crash of the machine may bring the old file back.
    private static func sync(folderOf path: FilePath) throws {
        let folder = try open(folder: path.removingLastComponent())
        try folder.closeAfter {
            // A file system that syncs no folders keeps their entries by itself (fsync(2)).
            guard fsync(folder.rawValue) == 0 || errno == EINVAL else { throw Errno(rawValue: errno) }
        }
    }
}
