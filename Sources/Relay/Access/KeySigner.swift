import Access
import FoundationEssentials

/// Signs texts in the name of a key, with an HMAC-SHA-256 (RFC 2104) of the text and the key's hash. A signature is
/// good as long as the relay has the key.
struct KeySigner: Sendable {
    /// Longest text with its signature, in bytes.
    private static let maximumLength = 512

    private let secret: SigningSecret

    init(secret: SigningSecret = SigningSecret()) { self.secret = secret }

    /// Returns `fields`, which have no dots, the key's name, and the signature, with dots between them.
    func signed(_ fields: [String], by key: KeyRing.Entry) -> String {
        let text = (fields + [key.name]).joined(separator: ".")
        return "\(text).\(code(text, key))"
    }

    /// Returns the fields that a key has signed, and this key; `nil` if the signature is forged or the key is gone.
    func fields(of signed: String, in ring: KeyRing) -> (fields: [String], key: KeyRing.Entry)? {
        guard signed.utf8.count <= Self.maximumLength else { return nil }
        var fields = signed.split(separator: ".", omittingEmptySubsequences: false)
        // Digits in lowercase only, so that a text has one signature.
        guard let code = fields.popLast(), let name = fields.last,
            let key = ring.keys.first(where: { $0.name == name }),
            SHA256.isEqual(Array(code.utf8), Array(self.code(fields.joined(separator: "."), key).utf8))
        else { return nil }
        return (fields.dropLast().map(String.init), key)
    }

    /// Returns the signature in hexadecimal.
    private func code(_ text: String, _ key: KeyRing.Entry) -> String {
        var message = Array("\(text).".utf8)
        message.append(contentsOf: key.proof.bytes)
        // A client that was revoked may pair again with the same certificate.
        if key.isPaired { message.append(contentsOf: "\(key.created.timeIntervalSince1970)".utf8) }
        return Hexadecimal.text(of: SHA256.authenticationCode(of: message, key: secret.bytes))
    }
}

/// A secret that texts are signed with.
package struct SigningSecret: Sendable, Equatable, CustomStringConvertible {
    /// 32 bytes.
    let bytes: [UInt8]

    /// Creates another secret.
    package init() { bytes = randomBytes(SHA256.byteCount) }

    /// Reads a secret in hexadecimal; `nil` if it is not one.
    init?(_ text: String) {
        guard let bytes = Hexadecimal.bytes(in: text), bytes.count == SHA256.byteCount else { return nil }
        self.bytes = bytes
    }

    var hexadecimal: String { Hexadecimal.text(of: bytes) }

    /// A fixed text without the value, because the service group logs whole services.
    package var description: String { "a secret" }
}
