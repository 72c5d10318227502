package import Access
import FoundationEssentials
import Media

/// The cookie that proves a web page's user had a key. The page's elements cannot send headers, and its scripts should
/// not hold the key.
///
/// It does not contain the key. Its value is the key's name, the expiry time, and an HMAC-SHA-256 (RFC 2104) over both
/// and the key's hash. Only this run of the relay can make it, so it ends with the relay or the key.
package struct LoginCookie: Sendable {
    /// How long the cookie is valid, s.
    package static let lifetime = 12 * 3600
    /// Longest value that is checked, bytes.
    private static let maximumLength = 256

    private let secret = randomBytes(SHA256.byteCount)

    package init() {}

    /// Returns the cookie's value for the holder of `key`.
    ///
    /// - Parameter now: s since 1970.
    package func value(for key: KeyRing.Entry, now: Int) -> String {
        let end = now &+ Self.lifetime
        let code = SHA256.authenticationCode(of: Self.message(key, end: end), key: secret)
        return "\(key.name).\(end).\(Hexadecimal.text(of: code))"
    }

    /// Returns the key that `value` was made for; `nil` if it is forged or expired.
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

    /// Returns the cookie's name. It contains the port, because browsers share a host's cookies between its ports, and
    /// several relays may run there.
    ///
    /// - Parameter authority: The value of the `Host` header.
    static func name(authority: String?) -> String {
        "heliograph-\(authority.flatMap { Endpoint($0)?.port } ?? 0)"
    }

    /// Returns the value of this relay's cookie among a request's cookies (RFC 6265, section 4.2.1).
    static func value(in cookies: [String], authority: String?) -> String? {
        let name = name(authority: authority)
        for pair in cookies.flatMap({ $0.split(separator: ";") }) {
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.first == name[...], let value = parts[at: 1] { return String(value) }
        }
        return nil
    }

    /// Returns a `Set-Cookie` value (RFC 6265, section 4.1). Scripts cannot read the cookie, and browsers do not send
    /// it for other sites' pages. An empty value deletes it.
    static func field(_ value: String, authority: String?, isSecure: Bool) -> String {
        let age = value.isEmpty ? 0 : lifetime
        return
            "\(name(authority: authority))=\(value); Path=/; HttpOnly; SameSite=Strict; Max-Age=\(age)\(isSecure ? "; Secure" : "")"
    }
}
