import Glibc

/// The file that keeps a portal's single-use restore token between runs, readable only by its owner.
package struct RestoreTokenFile {
    /// Tokens are UUIDs in practice; anything longer is not one.
    private static let maximumLength = 4096

    private let directory: String
    private var path: String { directory + "/restore-token" }

    /// - Parameters:
    ///   - stateDirectory: Heliograph's state directory, an absolute path.
    ///   - device: Letters, digits, `-` and `_`.
    package init(stateDirectory: String, device: String) {
        directory = stateDirectory + "/" + device
    }

    /// Returns the saved token, or `nil` if there is none.
    package func read() -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.maximumLength)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count > 0, let token = String(validating: bytes[..<count], as: UTF8.self) else { return nil }
        return token
    }

    /// Replaces the saved token. At every moment the file holds the old token or the new one, never a part.
    ///
    /// - Returns: Why it could not be saved, or `nil`.
    package func write(_ token: String) -> String? {
        guard makeDirectory() else { return "\(directory): \(String(cString: strerror(errno)))" }
        let temporary = "\(path).\(getpid())"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return "\(temporary): \(String(cString: strerror(errno)))" }
        let bytes = Array(token.utf8)
        let isWritten = Glibc.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(temporary, path) == 0 else {
            defer { unlink(temporary) }
            return "\(path): \(String(cString: strerror(errno)))"
        }
        return nil
    }

    /// Deletes the token, because the portal accepts each one only once.
    package func remove() {
        unlink(path)
    }

    private func makeDirectory() -> Bool {
        var partial = ""
        for component in directory.split(separator: "/", omittingEmptySubsequences: true) {
            partial += "/" + component
            if mkdir(partial, 0o700) != 0, errno != EEXIST { return false }
        }
        return true
    }
}
