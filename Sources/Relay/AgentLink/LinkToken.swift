import Access
import Files
import SystemPackage

/// The secret that an agent shows in its HELLO.
package struct LinkToken: Sendable, Equatable, CustomStringConvertible {
    /// Fewest characters of a configured token.
    package static let minimumLength = 16
    /// Longest token file, bytes.
    private static let maximumSize = 4096
    /// The environment variable that carries it, into the relay and on to the agents it starts. A command line would show it to
    /// every user of the machine.
    package static let environmentKey = "HELIOGRAPH_LINK_TOKEN"

    package let value: String

    /// Not the value: the service group prints whole services in its log.
    package var description: String { "a link token" }

    /// A token that the operator configured. White space around it is not part of it.
    ///
    /// - Throws: ``RelayStartError/tokenTooShort(source:)``
    package init(configured text: String, source: String) throws(RelayStartError) {
        let isToken = { (character: Character) in !character.isWhitespace }
        let start = text.firstIndex(where: isToken) ?? text.endIndex
        let last = text.lastIndex(where: isToken)
        value = last.map { String(text[start...$0]) } ?? ""
        guard value.count >= Self.minimumLength else { throw .tokenTooShort(source: source) }
    }

    /// The token in the file at `path`, which others than user and group may not read.
    package init(file path: String) throws(RelayStartError) {
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(FilePath(path), atMost: Self.maximumSize, isSecret: true)
        } catch {
            throw .tokenUnreadable(path: path, reason: "\(error)")
        }
        try self.init(configured: String(decoding: bytes, as: UTF8.self), source: path)
    }

    /// One that a relay had and kept.
    init(value: String) { self.value = value }

    /// A new one: 32 random bytes in hexadecimal.
    package static func random() -> LinkToken { LinkToken(value: Hexadecimal.text(of: randomBytes(32))) }

    /// Whether `candidate` is this token. The time it takes tells nothing about where the two differ.
    package func matches(_ candidate: String) -> Bool {
        // Digests have one length, so that the token's stays secret, too.
        SHA256.isEqual(SHA256.hash(Array(value.utf8)), SHA256.hash(Array(candidate.utf8)))
    }
}
