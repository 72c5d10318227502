import Access
import NIOCore
import NIOSSL

/// TLS of connections to relays.
enum RelayTLS {
    /// Returns how to connect to a relay.
    static func configuration(for target: RelayTarget) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        target.identity?.show(in: &configuration)
        return configuration
    }

    /// Adds TLS to a connection that has just been made, without an HTTP client.
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
