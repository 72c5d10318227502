import Access
import Media

/// What a caller shows to be let in, not looked into yet.
enum Credential: Sendable {
    case nothing
    /// `Authorization: Bearer …` (RFC 6750, section 2.1).
    case key(APIKey)
    /// An `Authorization` that no key can be.
    case malformed
    /// The web page's cookie.
    case login(String)

    /// - Parameters:
    ///   - authorization: The values of the header of this name.
    ///   - cookies: The same.
    ///   - authority: The `Host` header's.
    init(authorization: [String], cookies: [String], authority: String?) {
        if let value = authorization.first {
            let parts = value.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
            guard authorization.count == 1, parts.first?.lowercased() == "bearer",
                let key = parts[at: 1].flatMap({ APIKey($0) })
            else {
                self = .malformed
                return
            }
            self = .key(key)
        } else {
            self = LoginCookie.value(in: cookies, authority: authority).map(Credential.login) ?? .nothing
        }
    }
}
