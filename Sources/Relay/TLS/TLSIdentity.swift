import Access
import FoundationEssentials
import NIOSSL

/// A certificate and its private key, ready to serve.
struct TLSIdentity: Sendable {
    /// The protocol within; sessions' ports speak another and take no notice (RFC 7301).
    private static let applicationProtocols = ["http/1.1"]

    let context: NIOSSLContext
    /// The SHA-256 of the certificate's DER, as `openssl x509 -fingerprint -sha256` has it.
    let fingerprint: String
    /// When the certificate ends.
    let expires: Date

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

        var description: String { "there is no certificate in it" }
    }
}

/// What the relay encrypts with.
package enum TLSSettings: Sendable, Equatable {
    /// Nothing: HTTP, for loopback and for behind a proxy there.
    case none
    /// A certificate of the relay's own making, kept in its state directory.
    case selfSigned
    /// Files in PEM: the certificate with those that lead to its root, and its private key.
    case files(certificate: String, key: String)
}
