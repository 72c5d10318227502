/// The SHA-256 of a certificate, by which a client can recognise a relay. It is not secret.
package struct Fingerprint: Sendable, Hashable {
    package static let environmentKey = "HELIOGRAPH_FINGERPRINT"

    package let bytes: [UInt8]

    /// - Parameter der: The certificate in DER form, as it is sent.
    package init(ofCertificate der: [UInt8]) { bytes = SHA256.hash(der) }

    /// Reads a person's text: hexadecimal digits, optionally with colons between the pairs. Returns `nil` if it is
    /// anything else.
    package init?(_ text: String) {
        guard let bytes = Hexadecimal.bytes(in: text.filter { $0 != ":" }), bytes.count == SHA256.byteCount else {
            return nil
        }
        self.bytes = bytes
    }

    /// `AB:CD:…`, as `openssl x509 -fingerprint -sha256` prints it.
    package var text: String { bytes.map { Hexadecimal.text(of: [$0]).uppercased() }.joined(separator: ":") }
}
