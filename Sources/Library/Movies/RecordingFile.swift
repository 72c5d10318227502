import Glibc
package import Packaging
package import SystemPackage

/// A file that a recording is written to, or read from. Each call waits for the disk.
package final class RecordingFile: Sendable {
    package let path: FilePath
    private let descriptor: SystemPackage.FileDescriptor

    /// Creates a file that only its owner may read.
    ///
    /// - Throws: `Errno`, also if the file exists.
    package convenience init(creating path: FilePath) throws(Errno) {
        try self.init(path, .readWrite, [.create, .exclusiveCreate])
    }

    /// Opens a file that exists, to complete it.
    package convenience init(opening path: FilePath) throws(Errno) { try self.init(path, .readWrite, []) }

    /// Opens a file that exists, to read it.
    package convenience init(reading path: FilePath) throws(Errno) { try self.init(path, .readOnly, []) }

    private init(
        _ path: FilePath,
        _ mode: SystemPackage.FileDescriptor.AccessMode,
        _ options: SystemPackage.FileDescriptor.OpenOptions
    ) throws(Errno) {
        self.path = path
        descriptor = try Self.checked {
            try .open(
                path,
                mode,
                options: options.union([.closeOnExec, .noFollow]),
                permissions: [.ownerRead, .ownerWrite]
            )
        }
    }

    deinit { try? descriptor.close() }

    /// The file's length in bytes; 0 if it cannot be read.
    package var length: UInt64 { (try? descriptor.seek(offset: 0, from: .end)).map { UInt64(clamping: $0) } ?? 0 }

    /// How many names it has: hard links.
    var names: UInt {
        var status = Glibc.stat()
        return fstat(descriptor.rawValue, &status) == 0 ? UInt(clamping: status.st_nlink) : 0
    }

    /// Writes bytes, and waits until they are on the disk.
    ///
    /// - Parameter synchronizing: If not, a loss of power may lose the bytes.
    package func write(_ bytes: [UInt8], at offset: UInt64, synchronizing: Bool = true) throws(Errno) {
        _ = try Self.checked { try descriptor.writeAll(toAbsoluteOffset: Int64(clamping: offset), bytes) }
        guard !synchronizing || fdatasync(descriptor.rawValue) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Appends whole fragments, and waits until they are on the disk. If that fails, none of the bytes is left.
    ///
    /// - Parameter size: The number of bytes so far.
    package func append(_ bytes: [UInt8], at size: UInt64) throws(Errno) {
        do throws(Errno) {
            try write(bytes, at: size)
        } catch {
            try? truncate(to: size)
            throw error
        }
    }

    /// Makes a complete movie of it. If the disk has no room for the index, the file plays as before.
    ///
    /// - Parameter size: The number of bytes of whole fragments. What follows them is removed.
    package func complete(_ steps: [FileWrite], after size: UInt64) throws(Errno) {
        do throws(Errno) {
            try truncate(to: size)
            for step in steps { try write(step.bytes, at: step.offset) }
        } catch {
            try? truncate(to: size)
            throw error
        }
    }

    private func truncate(to size: UInt64) throws(Errno) {
        try Self.checked { try descriptor.resize(to: Int64(clamping: size)) }
    }

    /// Removes the file.
    package func remove() throws(Errno) {
        guard unlink(path.string) == 0 else { throw Errno(rawValue: errno) }
    }

    /// The bytes that are free for ordinary users on its disk.
    package func freeBytes() throws(Errno) -> UInt64 {
        var figures = statvfs()
        guard fstatvfs(descriptor.rawValue, &figures) == 0 else { throw Errno(rawValue: errno) }
        return figures.freeBytes
    }

    /// Reads up to `count` bytes at `offset`; `nil` if that fails. Fewer bytes mean that the file ends there.
    package func read(at offset: UInt64, count: Int) -> [UInt8]? {
        try? [UInt8](unsafeUninitializedCapacity: count) { memory, filled in
            filled = 0
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(memory)[filled...])
                let got = try descriptor.read(fromAbsoluteOffset: Int64(clamping: offset) + Int64(filled), into: rest)
                guard got > 0 else { break }
                filled += got
            }
        }
    }

    private static func checked<Result>(_ body: () throws -> Result) throws(Errno) -> Result {
        do {
            return try body()
        } catch {
            throw error as? Errno ?? .ioError
        }
    }
}

extension statvfs {
    /// The bytes that are free for ordinary users.
    var freeBytes: UInt64 { UInt64(clamping: f_bavail) &* UInt64(clamping: f_frsize) }
}
