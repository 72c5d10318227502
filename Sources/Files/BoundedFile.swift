package import SystemPackage

/// A reader of files that other programs write, with a limit on their size.
package enum BoundedFile {
    /// The error for a file that others may read or write who must not.
    package struct Exposed: Error, CustomStringConvertible {
        package var description: String { "others may read it: chmod o= it" }
    }

    /// Reads the whole file.
    ///
    /// - Parameters:
    ///   - size: The most bytes that it may have.
    ///   - isSecret: Whether users other than its owner and group must not be able to read or write it.
    /// - Throws: `Errno`, with `fileTooLarge` if the file is larger; ``Exposed``.
    package static func read(_ path: FilePath, atMost size: Int, isSecret: Bool = false) throws -> [UInt8] {
        try read(path, atMost: size, without: isSecret ? .otherReadWriteExecute : [])
    }

    /// Reads the whole file.
    ///
    /// - Parameters:
    ///   - size: The most bytes that it may have.
    ///   - permissions: Those that it must not give.
    /// - Throws: `Errno`, with `fileTooLarge` if the file is larger; ``Exposed``.
    package static func read(
        _ path: FilePath,
        atMost size: Int,
        without permissions: FilePermissions
    ) throws -> [UInt8] {
        let file = try FileDescriptor.open(path, .readOnly)
        return try file.closeAfter {
            guard try permissions.isEmpty || file.stat().permissions.isDisjoint(with: permissions) else {
                throw Exposed()
            }
            return try read(file, atMost: size)
        }
    }

    /// Reads the rest of an open file.
    ///
    /// - Parameter size: The most bytes to read.
    /// - Throws: `Errno`, with `fileTooLarge` if there are more.
    package static func read(_ file: FileDescriptor, atMost size: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: min(size + 1, 64 << 10))
        while true {
            let count = try part.withUnsafeMutableBytes { try file.read(into: $0) }
            if count == 0 { return bytes }
            bytes += part[..<count]
            guard bytes.count <= size else { throw Errno.fileTooLarge }
        }
    }
}
