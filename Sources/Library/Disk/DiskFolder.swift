import Glibc
import SystemPackage

/// An open folder. Names are looked up in it without following links.
final class DiskFolder {
    /// An entry of the folder.
    struct Entry {
        enum Kind: Equatable {
            case folder
            /// A regular file of this size.
            case file(bytes: Int64)
            /// A link, a device, a socket or the like.
            case other
        }

        /// The name; odd bytes are replaced, and ``isText`` is then false.
        let name: String
        let isText: Bool
        let kind: Kind
    }

    private let descriptor: CInt
    /// For messages.
    let path: String

    /// - Throws: ``LibraryError/folder(_:reason:)``, also if it is a link.
    convenience init(path: String) throws(LibraryError) {
        try self.init(path, in: AT_FDCWD, path: path)
    }

    private init(_ name: String, in parent: CInt, path: String) throws(LibraryError) {
        descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        self.path = path
        guard descriptor >= 0 else {
            let fault = Errno(rawValue: errno)
            throw .folder(path, reason: "\(fault)")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func folder(_ name: String) throws(LibraryError) -> DiskFolder {
        try DiskFolder(name, in: descriptor, path: path + "/" + name)
    }

    /// Opens a folder below; `nil` if a part of the path is missing or a link.
    func find(_ path: String) -> DiskFolder? {
        path.split(separator: "/").reduce(self as DiskFolder?) { try? $0?.folder(String($1)) }
    }

    /// Returns all entries in the order of their names.
    func entries() throws(LibraryError) -> [Entry] {
        let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0, let stream = fdopendir(own) else {
            let fault = Errno(rawValue: errno)
            if own >= 0 { close(own) }
            throw .folder(path, reason: "\(fault)")
        }
        defer { closedir(stream) }
        var entries: [Entry] = []
        while let entry = readdir(stream) {
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard bytes != [0x2E], bytes != [0x2E, 0x2E] else { continue }
            if let name = String(validating: bytes, as: UTF8.self) {
                entries.append(Entry(name: name, isText: true, kind: kind(of: name) ?? .other))
            } else {
                entries.append(Entry(name: String(decoding: bytes, as: UTF8.self), isText: false, kind: .other))
            }
        }
        return entries.sorted { $0.name < $1.name }
    }

    /// Returns what a name is; `nil` if there is no such entry.
    func kind(of name: String) -> Entry.Kind? {
        var status = Glibc.stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return .folder
        case S_IFREG: return .file(bytes: Int64(status.st_size))
        default: return .other
        }
    }

    /// Returns the size of a file; `nil` if there is none.
    func size(of name: String) -> Int64? {
        guard case .file(let bytes)? = kind(of: name) else { return nil }
        return bytes
    }

    /// Returns when a file was last changed, in s since 1970; `nil` if there is none.
    func changed(_ name: String) -> Int64? {
        var status = Glibc.stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return Int64(status.st_mtim.tv_sec)
    }

    /// Removes a file or a link.
    ///
    /// - Throws: ``LibraryError/folder(_:reason:)``, but not if it is missing already.
    func remove(_ name: String) throws(LibraryError) {
        guard unlinkat(descriptor, name, 0) != 0, errno != ENOENT else { return }
        throw .folder(path + "/" + name, reason: "\(Errno(rawValue: errno))")
    }

    /// Removes an empty folder. One that is in use stays.
    func removeIfEmpty(_ name: String) { unlinkat(descriptor, name, AT_REMOVEDIR) }

    /// Writes the entries to the disk, so that a removed file does not come back after a crash of the machine.
    func sync() { fsync(descriptor) }
}
