import CommandSupport
import Glibc
import NIOCore
import SystemPackage

extension SystemPackage.FileDescriptor {
    /// Opens `path` for a recording, replacing an existing file.
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

extension SystemPackage.FileDescriptor {
    /// Writes to standard output without buffering.
    ///
    /// - Returns: Whether the output still has a reader.
    static func writeToStandardOutput(_ bytes: some Sequence<UInt8>) throws(CommandError) -> Bool {
        do {
            try SystemPackage.FileDescriptor.standardOutput.writeAll(bytes)
            return true
        } catch Errno.brokenPipe {
            return false
        } catch {
            throw .failed("cannot write to standard output: \(error)")
        }
    }
}

/// Files that readers find complete or not at all.
enum WholeFile {
    /// Writes `bytes` to `path`.
    ///
    /// - Throws: `Errno`.
    static func write(_ bytes: ByteBuffer, to path: String) async throws {
        try await write(to: path) { _ = try $0.writeAll(bytes.readableBytesView) }
    }

    /// Has `body` write a file beside `path`, and moves it there in one step, replacing an existing file.
    ///
    /// - Throws: `Errno`, and what `body` throws, after removing what was written.
    static func write(to path: String, _ body: (SystemPackage.FileDescriptor) async throws -> Void) async throws {
        let draft = FilePath("\(path).\(getpid()).part")
        let file = try FileDescriptor.open(
            draft,
            .writeOnly,
            options: [.create, .exclusiveCreate],
            permissions: [.ownerReadWrite, .groupRead, .otherRead]
        )
        do {
            do {
                defer { try? file.close() }
                try await body(file)
            }
            guard rename(draft.string, path) == 0 else { throw Errno(rawValue: errno) }
        } catch {
            unlink(draft.string)
            throw error
        }
    }
}
