/// What the relay encrypts with.
package enum TLSSettings: Sendable, Equatable {
    /// Nothing: HTTP, for loopback and for behind a proxy there.
    case none
    /// A certificate of the relay's own making, kept in its state directory.
    case selfSigned
    /// Files in PEM: the certificate with those that lead to its root, and its private key.
    case files(certificate: String, key: String)
}
