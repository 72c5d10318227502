import Crypto

/// What is kept of an API key: its SHA-256 (FIPS 180-4).
///
/// A slow hash would make passwords dear to guess. A key has 256 random bits, which nobody guesses at any speed, and every call pays for the hash.
package struct KeyDigest: Sendable, Codable, Hashable {
    package static let length = SHA256.byteCount

    package let bytes: [UInt8]

    package init(of key: APIKey) { bytes = Array(SHA256.hash(data: Array(key.text.utf8))) }

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
    package func matches(_ other: KeyDigest) -> Bool {
        zip(bytes, other.bytes).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
