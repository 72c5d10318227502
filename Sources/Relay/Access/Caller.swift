import Access

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
