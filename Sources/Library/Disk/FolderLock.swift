import Glibc
import SystemPackage

/// Keeps other relays and commands out of a library's folder while it lives.
final class FolderLock: Sendable {
    private let descriptor: CInt

    /// - Throws: ``LibraryError/inUse(folder:)``, ``LibraryError/folder(_:reason:)``.
    init(folder: String) throws(LibraryError) {
        let path = folder + "/library.lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .folder(path, reason: "\(Errno(rawValue: errno))") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return }
        guard errno != EWOULDBLOCK else { throw .inUse(folder: folder) }
        throw .folder(path, reason: "\(Errno(rawValue: errno))")
    }

    /// Ends the lock explicitly: a program that is being launched has a copy of the descriptor until it runs, and
    /// closing ours alone would leave the folder locked so long.
    deinit {
        guard descriptor >= 0 else { return }
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
