package import Access

/// Which certificates of a relay a program trusts.
public struct Trust: Sendable, Hashable {
    /// The only certificate to trust; `nil` for those of the system's authorities.
    let fingerprint: CertificateFingerprint?

    /// Trusts certificates of the system's authorities.
    public static let authorities = Trust(fingerprint: nil)

    /// Trusts one certificate only, whatever its authority, name and dates.
    public static func pinned(_ fingerprint: CertificateFingerprint) -> Trust { Trust(fingerprint: fingerprint) }
}

/// The SHA-256 of a relay's certificate. It is not secret.
public struct CertificateFingerprint: Sendable, Hashable, CustomStringConvertible {
    package let fingerprint: Fingerprint

    init(_ fingerprint: Fingerprint) { self.fingerprint = fingerprint }

    /// Reads 64 hexadecimal digits, optionally with colons between the pairs, as the relay's log and `heliograph
    /// status` show them. Returns `nil` for any other text.
    public init?(_ text: String) {
        guard let fingerprint = Fingerprint(text) else { return nil }
        self.fingerprint = fingerprint
    }

    public var description: String { fingerprint.text }
}
