import Access
import FoundationEssentials
import NIOSSL

/// A certificate and its private key, ready to serve.
struct TLSIdentity: Sendable {
    /// The protocol inside TLS (RFC 7301). Sessions' ports speak another one and ignore this.
    private static let applicationProtocols = ["http/1.1"]

    let context: NIOSSLContext
    /// The SHA-256 of the certificate's DER, as `openssl x509 -fingerprint -sha256` prints it.
    let fingerprint: String
    /// When the certificate expires.
    let expires: Date

    /// Creates an identity.
    ///
    /// - Parameters:
    ///   - certificates: PEM, the server's own first.
    ///   - key: PEM.
    init(certificates: [UInt8], key: [UInt8]) throws {
        let chain = try NIOSSLCertificate.fromPEMBytes(certificates)
        guard let own = chain.first else { throw Fault.noCertificate }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: key, format: .pem))
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = Self.applicationProtocols
        context = try NIOSSLContext(configuration: configuration)
        fingerprint = Fingerprint(ofCertificate: try own.toDERBytes()).text
        expires = Date(timeIntervalSince1970: TimeInterval(own.notValidAfter))
    }

    enum Fault: Error, CustomStringConvertible {
        case noCertificate

        var description: String { "it contains no certificate" }
    }
}

/// How the relay encrypts connections.
package enum TLSSettings: Sendable, Equatable {
    /// No encryption: plain HTTP, for loopback or a proxy there.
    case none
    /// A certificate that the relay makes and keeps in its state directory.
    case selfSigned
    /// PEM files: the certificate with its chain, and its private key.
    case files(certificate: String, key: String)
}
