import Access
import Media

/// Who makes a call.
struct Caller: Sendable {
    /// The key that was shown; nil for none.
    let key: KeyRing.Entry?
    let role: Role?

    /// Who needs no key, because access is off: may all.
    static let local = Caller(key: nil, role: .operator)
    /// Who has shown none, on a route that is for anyone.
    static let stranger = Caller(key: nil, role: nil)

    init(key: KeyRing.Entry) {
        self.key = key
        role = key.role
    }

    private init(key: KeyRing.Entry?, role: Role?) {
        self.key = key
        self.role = role
    }
}

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
