import Crypto
import FoundationEssentials
import SwiftASN1
import X509

/// A certificate that nobody vouches for: clients know it by its fingerprint.
struct SelfSignedCertificate {
    /// How long it is good. Whoever pins a fingerprint is to go on for the machine's life.
    private static let lifetime = TimeInterval(20 * 365 * 86_400)
    /// Clocks of clients may be behind.
    private static let clockSkew = TimeInterval(86_400)

    /// PEM.
    let certificate: String
    /// PEM.
    let key: String

    /// - Parameters:
    ///   - host: What this machine calls itself; clients that check names find it, localhost and the loopback addresses.
    ///   - now: When it begins to be good, but for a day.
    init(host: String, now: Date) throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("heliograph \(host.prefix(50))") }
        let names: [GeneralName] = [
            .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
            .ipAddress(ASN1OctetString(contentBytes: [UInt8](repeating: 0, count: 15) + [1])),
        ]
        let certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: now - Self.clockSkew,
            notValidAfter: now + Self.lifetime,
            issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(host.isEmpty ? names : [.dnsName(host)] + names)
            },
            issuerPrivateKey: Certificate.PrivateKey(key)
        )
        self.certificate = try certificate.serializeAsPEM().pemString + "\n"
        self.key = key.pemRepresentation + "\n"
    }
}
