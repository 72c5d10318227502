import Access
import FoundationEssentials
import Media

/// The caller of a call.
struct Caller: Sendable {
    /// The caller's key, or the one that its signed link was made with; `nil` for none.
    let key: KeyRing.Entry?
    let role: Role?
    /// The caller's signed link; `nil` for none.
    let link: SignedLink?

    /// The name of the caller's key.
    var keyName: String? { key?.name }

    /// A caller that needs no key because access control is off. It may do everything, but act on screens
    /// only as ``LocalUser`` says.
    static let local = Caller(key: nil, role: .operator)
    /// A caller without a key, on a route for anyone.
    static let stranger = Caller(key: nil, role: nil)

    /// - Parameter link: The signed link that the caller shows instead of the key.
    init(key: KeyRing.Entry, link: SignedLink? = nil) {
        self.init(key: key, role: link == nil ? key.role : .viewer, link: link)
    }

    private init(key: KeyRing.Entry?, role: Role?, link: SignedLink? = nil) {
        self.key = key
        self.role = role
        self.link = link
    }

    /// Returns itself, unless its key has expired.
    func unlessExpired(at time: Date) -> Caller? { key?.isExpired(at: time) == true ? nil : self }

    /// What the caller may do in the library.
    var libraryRights: Set<LibraryRight> {
        let rights = key?.libraryRights ?? role?.libraryRights ?? []
        return link == nil ? rights : rights.intersection([.look])
    }

    /// The devices that the caller's key is for; `nil` for all devices.
    var devices: [String]? { key?.devices }

    /// Whether the caller may have to do with this device.
    func reaches(_ device: String) -> Bool { key?.reaches(device) ?? true }
}

/// A caller's credential, not checked yet.
enum Credential: Sendable {
    case nothing
    /// `Authorization: Bearer …` (RFC 6750, section 2.1).
    case key(APIKey)
    /// An `Authorization` header that cannot contain a key.
    case malformed
    /// The web page's cookie.
    case login(String)
    /// A signed link, with its signature.
    case link(String)

    /// Reads the credential from a request's headers. If they have none, the client's certificate may be one.
    ///
    /// - Parameters:
    ///   - authorization: The values of the `Authorization` header.
    ///   - cookies: The values of the `Cookie` header.
    ///   - authority: The value of the `Host` header.
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
