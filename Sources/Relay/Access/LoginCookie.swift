package import Access
import FoundationEssentials
import Media

/// The cookie that proves a web page's user had a key. The page's elements cannot send headers, and its scripts should
/// not hold the key.
///
/// It does not contain the key. Its value is the expiry time and the key's name, signed by ``KeySigner``. Only this run
/// of the relay can make it, so it ends with the relay or the key.
package struct LoginCookie: Sendable {
    /// How long the cookie is valid, s.
    package static let lifetime = 12 * 3600

    private let signer = KeySigner()

    package init() {}

    /// Returns the cookie's value for the holder of `key`.
    ///
    /// - Parameter now: s since 1970.
    package func value(for key: KeyRing.Entry, now: Int) -> String {
        signer.signed(["\(now &+ Self.lifetime)"], by: key)
    }

    /// Returns the key that `value` was made for; `nil` if it is forged or expired.
    ///
    /// - Parameter now: s since 1970.
    package func key(of value: String, in ring: KeyRing, now: Int) -> KeyRing.Entry? {
        guard let (fields, key) = signer.fields(of: value, in: ring), fields.count == 1,
            let end = fields.first.flatMap({ Int($0, radix: 10) }), end > now
        else { return nil }
        return key
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
