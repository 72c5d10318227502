import CCrypto
import FoundationEssentials
import Program

import func Glibc.free
import func Glibc.strdup

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
        var names = ["DNS:localhost", "IP:127.0.0.1", "IP:::1"]
        // Anything else would end the name in what follows.
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
