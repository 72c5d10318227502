/// The secret that a caller of the API shows.
package struct APIKey: Sendable, CustomStringConvertible {
    /// What keys begin with, so that people and scanners for secrets know one when they see it.
    private static let prefix = "hgk_"
    /// Random bytes in one that is made here.
    private static let entropy = 32
    /// Longest key that is looked at, bytes.
    package static let maximumLength = 256
    /// The environment variable that carries it into clients. A command line would show it to every user of the machine.
    package static let environmentKey = "HELIOGRAPH_KEY"

    package let text: String

    /// Not the key: whoever prints it does not mean to.
    package var description: String { "an API key" }

    /// One that a caller shows, whether or not it is any good; nil when it cannot be one.
    package init?(_ text: some StringProtocol) {
        guard 1...Self.maximumLength ~= text.utf8.count,
            text.utf8.allSatisfy({ UInt8(ascii: "!")...UInt8(ascii: "~") ~= $0 })
        else { return nil }
        self.text = String(text)
    }

    private init(made text: String) { self.text = text }

    /// A new one: 256 random bits in hexadecimal behind the prefix.
    package static func random() -> APIKey {
        APIKey(made: prefix + Hexadecimal.text(of: randomBytes(entropy)))
    }
}

/// What is kept of an API key: its SHA-256 (FIPS 180-4).
///
/// A slow hash would make passwords dear to guess. A key has 256 random bits, which nobody guesses at any speed, and every call pays for the hash.
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

    /// Whether the two are the same. The time it takes tells nothing about where they differ.
    package func matches(_ other: KeyDigest) -> Bool { SHA256.isEqual(bytes, other.bytes) }
}
