import CCrypto
package import FoundationEssentials
import Program

import func Glibc.free
import func Glibc.strdup

/// A certificate without an authority. The other party recognizes it by its fingerprint.
package struct SelfSignedCertificate {
    /// What a certificate is for.
    package enum Purpose {
        /// A relay that is reached by this name, and on its own machine as localhost.
        case server(host: String)
        /// A client with this name.
        case client(name: String)
    }

    /// How long it is valid. It should outlive the machine, because the other party pins its fingerprint.
    private static let lifetime = TimeInterval(20 * 365 * 86_400)
    /// How far the other party's clock may be behind.
    private static let clockSkew = TimeInterval(86_400)

    /// The certificate in PEM.
    package let certificate: String
    /// The private key in PEM.
    package let key: String

    /// Creates a certificate and its key.
    ///
    /// - Parameter now: The current time; it is valid from one day before.
    package init(for purpose: Purpose, now: Date) throws {
        var extensions = ["basicConstraints", "critical,CA:FALSE", "keyUsage", "critical,digitalSignature"]
        let name: String
        switch purpose {
        case .server(let host):
            var names = ["DNS:localhost", "IP:127.0.0.1", "IP:::1"]
            // Other characters would end the name in the certificate's text.
            let labels = host.split(separator: ".", omittingEmptySubsequences: false)
            if labels.allSatisfy({ String($0).isName }) { names.insert("DNS:\(host)", at: 0) }
            extensions += ["extendedKeyUsage", "serverAuth", "subjectAltName", names.joined(separator: ",")]
            name = host
        case .client(let client):
            extensions += ["extendedKeyUsage", "clientAuth"]
            name = client
        }
        let texts = extensions.map { strdup($0) }
        defer { for text in texts { free(text) } }
        var (certificate, key): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?)
        let isMade = ccrypto_self_signed(
            "heliograph \(name.prefix(50))",
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

    private struct Fault: Error, CustomStringConvertible {
        var description: String { "OpenSSL cannot make a certificate" }
    }
}
