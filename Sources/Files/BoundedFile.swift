package import SystemPackage

/// Reads files that others write, never more of one than there may be in it.
package enum BoundedFile {
    /// A file that holds a secret, and that others than its user and group may read or write.
    package struct Exposed: Error, CustomStringConvertible {
        package var description: String { "others may read it: chmod o= it" }
    }

    /// The whole file.
    ///
    /// - Parameters:
    ///   - size: Most bytes.
    ///   - isSecret: Whether others than its user and group may neither read nor write it.
    /// - Throws: `Errno`, `fileTooLarge` where there is more; ``Exposed``.
    package static func read(_ path: FilePath, atMost size: Int, isSecret: Bool = false) throws -> [UInt8] {
        let file = try FileDescriptor.open(path, .readOnly)
        return try file.closeAfter {
            if isSecret, try !file.stat().permissions.isDisjoint(with: .otherReadWriteExecute) { throw Exposed() }
            return try read(file, atMost: size)
        }
    }

    /// What is left to read of an open file.
    ///
    /// - Parameter size: Most bytes.
    /// - Throws: `Errno`, `fileTooLarge` where there is more.
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
