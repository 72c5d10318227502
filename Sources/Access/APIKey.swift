/// The secret with which a caller of the API authenticates.
package struct APIKey: Sendable, CustomStringConvertible {
    /// The prefix of keys that are created here, by which people and secret scanners recognise them.
    private static let prefix = "hgk_"
    /// The number of random bytes in a key that is created here.
    private static let entropy = 32
    /// The longest accepted key, in bytes.
    package static let maximumLength = 256
    /// The environment variable for the key in clients. A command line would show it to every user of the machine.
    package static let environmentKey = "HELIOGRAPH_KEY"

    package let text: String

    /// A text without the key, because keys must not be printed by accident.
    package var description: String { "an API key" }

    /// Creates a key from a caller's text, valid or not. Returns `nil` if the text cannot be a key.
    package init?(_ text: some StringProtocol) {
        guard 1...Self.maximumLength ~= text.utf8.count,
            text.utf8.allSatisfy({ UInt8(ascii: "!")...UInt8(ascii: "~") ~= $0 })
        else { return nil }
        self.text = String(text)
    }

    private init(made text: String) { self.text = text }

    /// Creates a new key: the prefix, then 256 random bits in hexadecimal.
    package static func random() -> APIKey {
        APIKey(made: prefix + Hexadecimal.text(of: randomBytes(entropy)))
    }
}

/// The stored form of an API key: its SHA-256 (FIPS 180-4).
///
/// A slow hash protects passwords from guessing. A key has 256 random bits, which cannot be guessed at any speed, and
/// every call pays for the hash.
package struct KeyDigest: Sendable, Codable, Hashable {
    package static let length = SHA256.byteCount

    package let bytes: [UInt8]

    package init(of key: APIKey) { bytes = SHA256.hash(Array(key.text.utf8)) }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let bytes = Hexadecimal.bytes(in: try container.decode(String.self)), bytes.count == Self.length else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "a SHA-256 is \(Self.length &* 2) hexadecimal digits"
            )
        }
        self.bytes = bytes
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Hexadecimal.text(of: bytes))
    }

    /// Returns whether both are equal, in a time that does not depend on where they differ.
    package func matches(_ other: KeyDigest) -> Bool { SHA256.isEqual(bytes, other.bytes) }
}
