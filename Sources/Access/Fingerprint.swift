/// The SHA-256 of a certificate: what a client may know a relay by. It is no secret.
package struct Fingerprint: Sendable, Equatable {
    package static let environmentKey = "HELIOGRAPH_FINGERPRINT"

    private let bytes: [UInt8]

    /// - Parameter der: The certificate, as it is sent.
    package init(ofCertificate der: [UInt8]) { bytes = SHA256.hash(der) }

    /// One that a person gives: hexadecimal digits, with or without colons between the pairs. Nil where it is none.
    package init?(_ text: String) {
        guard let bytes = Hexadecimal.bytes(in: text.filter { $0 != ":" }), bytes.count == SHA256.byteCount else {
            return nil
        }
        self.bytes = bytes
    }

    /// `AB:CD:…`, as `openssl x509 -fingerprint -sha256` prints it.
    package var text: String { bytes.map { Hexadecimal.text(of: [$0]).uppercased() }.joined(separator: ":") }
}
