import CCrypto
import FoundationEssentials
import Program

import func Glibc.free
import func Glibc.strdup

/// A certificate without an authority. Clients recognize it by its fingerprint.
struct SelfSignedCertificate {
    /// How long it is valid. It should outlive the machine, because clients pin its fingerprint.
    private static let lifetime = TimeInterval(20 * 365 * 86_400)
    /// How far a client's clock may be behind.
    private static let clockSkew = TimeInterval(86_400)

    /// The certificate in PEM.
    let certificate: String
    /// The private key in PEM.
    let key: String

    /// Creates a certificate.
    ///
    /// - Parameters:
    ///   - host: This machine's name. The certificate also names localhost and the loopback addresses.
    ///   - now: The current time; it is valid from one day before.
    init(host: String, now: Date) throws {
        var names = ["DNS:localhost", "IP:127.0.0.1", "IP:::1"]
        // Other characters would end the name in the certificate's text.
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        if labels.allSatisfy({ String($0).isName }) { names.insert("DNS:\(host)", at: 0) }
        let extensions = [
            "basicConstraints", "critical,CA:FALSE", "keyUsage", "critical,digitalSignature",
            "extendedKeyUsage", "serverAuth", "subjectAltName", names.joined(separator: ","),
        ]
        let texts = extensions.map { strdup($0) }
        defer { for text in texts { free(text) } }
        var (certificate, key): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?)
        let isMade = ccrypto_self_signed(
            "heliograph \(host.prefix(50))",
            Int64((now - Self.clockSkew).timeIntervalSince1970),
            Int64((now + Self.lifetime).timeIntervalSince1970),
            texts.map { UnsafePointer($0) },
            texts.count / 2,
            &certificate,
            &key
        )
        guard isMade != 0, let certificate, let key else { throw Fault() }
        defer {
            free(certificate)
            free(key)
        }
        self.certificate = String(cString: certificate)
        self.key = String(cString: key)
    }

    struct Fault: Error, CustomStringConvertible {
        var description: String { "OpenSSL cannot make a certificate" }
    }
}
