import Access
import NIOCore
import NIOSSL

/// TLS of the connections that are not made by an HTTP client.
enum RelayTLS {
    /// Adds TLS to a connection that has just been made.
    ///
    /// - Parameter isTrusted: Judges the relay's certificate, before anything is sent; `nil` leaves it to the system's
    ///   authorities.
    static func add(
        to channel: any Channel,
        _ host: String,
        by context: NIOSSLContext,
        isTrusted: (@Sendable (Fingerprint) -> Bool)?
    ) throws {
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        let name = isAddress ? nil : host
        let handler: NIOSSLClientHandler
        if let isTrusted {
            handler = try NIOSSLClientHandler(
                context: context,
                serverHostname: name,
                customVerificationCallback: { certificates, promise in
                    let found = certificates.first.flatMap { try? Fingerprint(ofCertificate: $0.toDERBytes()) }
                    promise.succeed(found.map(isTrusted) == true ? .certificateVerified : .failed)
                }
            )
        } else {
            handler = try NIOSSLClientHandler(context: context, serverHostname: name)
        }
        try channel.pipeline.syncOperations.addHandler(handler)
    }
}
