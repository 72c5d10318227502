import CommandSupport
import SystemPackage

/// A file that a command reads as a whole.
enum ReadFile {
    /// Returns the bytes of a file.
    ///
    /// - Parameters:
    ///   - path: The file's path; `-` for standard input.
    ///   - what: The file for people, such as "the template".
    ///   - limit: Most bytes that the file may have.
    ///   - advice: What to do if it has more.
    static func bytes(of path: String, _ what: String, limit: Int, advice: String) throws(CommandError) -> [UInt8] {
        let name = path == "-" ? "standard input" : "\(what) \(path)"
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        do {
            let file = path == "-" ? FileDescriptor.standardInput : try FileDescriptor.open(FilePath(path), .readOnly)
            let count = try file.closeAfter {
                try bytes.withUnsafeMutableBytes { buffer in
                    var count = 0
                    while count < buffer.count {
                        let read = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
                        if read == 0 { break }
                        count += read
                    }
                    return count
                }
            }
            bytes.removeSubrange(count...)
        } catch {
            throw .failed("cannot read \(name): \(error)")
        }
        guard bytes.count <= limit else { throw .failed("\(name) \(advice)") }
        return bytes
    }
}
