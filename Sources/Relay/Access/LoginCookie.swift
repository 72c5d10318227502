package import Access
import FoundationEssentials
import Media

/// The cookie by which a web page shows that its user had a key: the elements of a page cannot send headers, and its scripts are not to hold the key.
///
/// It holds no key. Its value is the key's name, when it ends, and a code that only this relay's process can make (HMAC-SHA-256, RFC 2104), of
/// both and the key's hash: it is worth nothing after the relay's end, and when the key is revoked.
package struct LoginCookie: Sendable {
    /// How long it is good, s.
    package static let lifetime = 12 * 3600
    /// Longest value that is looked at, bytes.
    private static let maximumLength = 256

    private let secret = randomBytes(SHA256.byteCount)

    package init() {}

    /// The cookie's value for the holder of `key`.
    ///
    /// - Parameter now: s since 1970.
    package func value(for key: KeyRing.Entry, now: Int) -> String {
        let end = now &+ Self.lifetime
        let code = SHA256.authenticationCode(of: Self.message(key, end: end), key: secret)
        return "\(key.name).\(end).\(Hexadecimal.text(of: code))"
    }

    /// The key that `value` was made for; nil where it was not, or is too old.
    ///
    /// - Parameter now: s since 1970.
    package func key(of value: String, in ring: KeyRing, now: Int) -> KeyRing.Entry? {
        guard value.utf8.count <= Self.maximumLength else { return nil }
        let parts = value.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let name = parts.first, let end = parts[at: 1].flatMap({ Int($0, radix: 10) }),
            end > now,
            let code = parts.last.flatMap({ Hexadecimal.bytes(in: $0) }),
            let key = ring.keys.first(where: { $0.name == name })
        else { return nil }
        let expected = SHA256.authenticationCode(of: Self.message(key, end: end), key: secret)
        return SHA256.isEqual(code, expected) ? key : nil
    }

    private static func message(_ key: KeyRing.Entry, end: Int) -> [UInt8] {
        var message = Array("\(key.name).\(end).".utf8)
        message.append(contentsOf: key.sha256.bytes)
        return message
    }

    /// The cookie's name. Browsers do not tell a host's ports apart, and several relays may be on one.
    ///
    /// - Parameter authority: The `Host` header's.
    static func name(authority: String?) -> String {
        "heliograph-\(authority.flatMap { Endpoint($0)?.port } ?? 0)"
    }

    /// The value of this relay's cookie among those of a request (RFC 6265, section 4.2.1).
    static func value(in cookies: [String], authority: String?) -> String? {
        let name = name(authority: authority)
        for pair in cookies.flatMap({ $0.split(separator: ";") }) {
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.first == name[...], let value = parts[at: 1] { return String(value) }
        }
        return nil
    }

    /// A `Set-Cookie` (RFC 6265, section 4.1): no script reads it, and no other site's pages make the browser send it. An empty value takes it away.
    static func field(_ value: String, authority: String?, isSecure: Bool) -> String {
        let age = value.isEmpty ? 0 : lifetime
        return
            "\(name(authority: authority))=\(value); Path=/; HttpOnly; SameSite=Strict; Max-Age=\(age)\(isSecure ? "; Secure" : "")"
    }
}
