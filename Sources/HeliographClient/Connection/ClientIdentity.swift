import Access
import FoundationEssentials
import NIOSSL

/// A certificate by which relays recognize a client that has paired, with its private key.
///
///     let identity = try ClientIdentity.make(named: "nightly-tests")
///     try Data(identity.key.utf8).write(to: secretPlace)
///
/// A relay does not care who has signed it, only for which certificate the client has paired.
public struct ClientIdentity: Sendable, CustomStringConvertible {
    /// The certificate in PEM. It is not secret.
    public let certificate: String
    /// The private key in PEM. It is secret.
    public let key: String
    /// The SHA-256 of the certificate.
    public let fingerprint: CertificateFingerprint

    /// A text without the key, because secrets must not be printed by accident.
    public var description: String { "the identity with the certificate \(fingerprint)" }

    private let chain: [NIOSSLCertificateSource]
    private let privateKey: NIOSSLPrivateKeySource

    /// - Parameters:
    ///   - certificate: PEM.
    ///   - key: PEM, without a password.
    /// - Throws: ``RelayError`` of the kind `badArgument`.
    public init(certificate: String, key: String) throws(RelayError) {
        do {
            guard let own = try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)).first else {
                throw RelayError(.badArgument, "the client's identity has no certificate")
            }
            privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem))
            chain = [.certificate(own)]
            fingerprint = CertificateFingerprint(Fingerprint(ofCertificate: try own.toDERBytes()))
        } catch let error as RelayError {
            throw error
        } catch {
            throw RelayError(.badArgument, "the client's identity is damaged: \(error)")
        }
        (self.certificate, self.key) = (certificate, key)
    }

    /// Makes another one.
    ///
    /// - Parameter name: What the certificate says it is for. Nobody has to believe it.
    /// - Throws: ``RelayError``
    public static func make(named name: String) throws(RelayError) -> ClientIdentity {
        let made: SelfSignedCertificate
        do {
            made = try SelfSignedCertificate(for: .client(name: name), now: Date())
        } catch {
            throw RelayError(.badArgument, "cannot make a certificate: \(error)")
        }
        return try ClientIdentity(certificate: made.certificate, key: made.key)
    }

    /// Has TLS show it, encrypted: only from version 1.3 on (RFC 8446, section 4.4.2).
    func show(in configuration: inout TLSConfiguration) {
        configuration.minimumTLSVersion = .tlsv13
        (configuration.certificateChain, configuration.privateKey) = (chain, privateKey)
    }
}
