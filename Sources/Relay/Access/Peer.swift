import Access
import NIOCore

/// What a connection shows of the caller at its other end.
struct Peer: Sendable {
    /// The caller's address; `nil` if it is unknown, because a tunnel does not tell it.
    let address: SocketAddress?
    /// The certificate that the client has shown, and whose private key it has; `nil` for none.
    var certificate: Fingerprint?

    /// Whether the caller is a program of this machine.
    var isLocal: Bool { address.map(LocalUser.isLoopback) ?? false }
}
