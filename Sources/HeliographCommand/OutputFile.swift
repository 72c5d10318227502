import Glibc
import NIOCore
import SystemPackage

extension SystemPackage.FileDescriptor {
    /// Opens `path` for a recording, replacing what is there.
    static func output(_ path: String) throws(CommandError) -> SystemPackage.FileDescriptor {
        do {
            return try .open(
                FilePath(path),
                .writeOnly,
                options: [.create, .truncate],
                permissions: [.ownerReadWrite, .groupRead, .otherRead]
            )
        } catch {
            throw .failed("cannot write \(path): \(error)")
        }
    }
}

/// Files that others find whole or not at all.
enum WholeFile {
    /// Writes `bytes` beside `path` and puts the file there in one step, in place of what is there.
    ///
    /// - Throws: `Errno`; nothing is left behind then.
    static func write(_ bytes: ByteBuffer, to path: String) throws {
        let draft = FilePath("\(path).\(getpid()).part")
        let file = try FileDescriptor.open(
            draft,
            .writeOnly,
            options: [.create, .exclusiveCreate],
            permissions: [.ownerReadWrite, .groupRead, .otherRead]
        )
        do {
            _ = try file.closeAfter { try file.writeAll(bytes.readableBytesView) }
            guard rename(draft.string, path) == 0 else { throw Errno(rawValue: errno) }
        } catch {
            unlink(draft.string)
            throw error
        }
    }
}
