import Access
import Files
import SystemPackage

/// The secret that an agent sends in its HELLO.
package struct LinkToken: Sendable, Equatable, CustomStringConvertible {
    /// Fewest characters of a configured token.
    package static let minimumLength = 16
    /// Longest token file, bytes.
    private static let maximumSize = 4096
    /// The environment variable with the token, for the relay and the agents that it starts. A command line would show
    /// it to every user of the machine.
    package static let environmentKey = "HELIOGRAPH_LINK_TOKEN"

    package let value: String

    /// A fixed text without the value, because the service group logs whole services.
    package var description: String { "a link token" }

    /// Creates a token that the operator configured, without surrounding white space.
    ///
    /// - Throws: ``RelayStartError/tokenTooShort(source:)``
    package init(configured text: String, source: String) throws(RelayStartError) {
        let isToken = { (character: Character) in !character.isWhitespace }
        let start = text.firstIndex(where: isToken) ?? text.endIndex
        let last = text.lastIndex(where: isToken)
        value = last.map { String(text[start...$0]) } ?? ""
        guard value.count >= Self.minimumLength else { throw .tokenTooShort(source: source) }
    }

    /// Reads the token from the file at `path`. Other users than its owner and group must not be able to read it.
    package init(file path: String) throws(RelayStartError) {
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(FilePath(path), atMost: Self.maximumSize, isSecret: true)
        } catch {
            throw .tokenUnreadable(path: path, reason: "\(error)")
        }
        try self.init(configured: String(decoding: bytes, as: UTF8.self), source: path)
    }

    /// Restores a token that a previous relay kept.
    init(value: String) { self.value = value }

    /// Creates a new token: 32 random bytes in hexadecimal.
    package static func random() -> LinkToken { LinkToken(value: Hexadecimal.text(of: randomBytes(32))) }

    /// Returns whether `candidate` is this token. The comparison takes the same time wherever the two differ.
    package func matches(_ candidate: String) -> Bool {
        // Digests have one length, so that the token's length stays secret too.
        SHA256.isEqual(SHA256.hash(Array(value.utf8)), SHA256.hash(Array(candidate.utf8)))
    }
}
