import Access
import FoundationEssentials
import NIOSSL

/// A certificate and its private key, ready to serve.
struct TLSIdentity: Sendable {
    /// What connections are for.
    enum Use {
        case http
        /// A session's port, or a refusal, which is one answer of HTTP/1.1.
        case other

        /// The protocols inside TLS, by preference (RFC 7301).
        fileprivate var applicationProtocols: [String] {
            switch self {
            case .http: [HTTP2Connection.name, "http/1.1"]
            case .other: ["http/1.1"]
            }
        }
    }

    private let http: NIOSSLContext
    private let other: NIOSSLContext
    /// The SHA-256 of the certificate's DER.
    let fingerprint: Fingerprint
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
        // Clients that have paired show a certificate. A browser asks its user which one to show only if it has one of
        // the authorities that are named here: nobody's, because this one signs none.
        configuration.certificateVerification = .optionalVerification
        configuration.trustRoots = .certificates([own])
        configuration.sendCANameList = true
        func context(for use: Use) throws -> NIOSSLContext {
            configuration.applicationProtocols = use.applicationProtocols
            return try NIOSSLContext(configuration: configuration)
        }
        (http, other) = (try context(for: .http), try context(for: .other))
        fingerprint = Fingerprint(ofCertificate: try own.toDERBytes())
        expires = Date(timeIntervalSince1970: TimeInterval(own.notValidAfter))
    }

    func context(for use: Use) -> NIOSSLContext {
        switch use {
        case .http: http
        case .other: other
        }
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
