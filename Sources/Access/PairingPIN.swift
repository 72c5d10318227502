import CCrypto

/// The digits by which a client and a relay recognize each other once.
package struct PairingPIN: Sendable, Equatable, CustomStringConvertible {
    /// How many digits a PIN may have. One guess is allowed, so even four hold against 9,999 of 10,000 strangers.
    package static let lengths = 4...8
    package static let usualLength = 6

    /// The digits.
    package let text: String

    /// A text without the digits, because a PIN must not be printed by accident.
    package var description: String { "a PIN" }

    /// Reads what a person has typed; spaces and hyphens do not count. Returns `nil` unless 4 to 8 digits remain.
    package init?(_ text: some StringProtocol) {
        let digits = String(text.filter { !" -".contains($0) })
        guard Self.lengths ~= digits.utf8.count,
            digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return nil }
        self.text = digits
    }

    private init(made text: String) { self.text = text }

    /// Creates a PIN.
    ///
    /// - Parameter length: One of ``lengths``.
    package static func random(length: Int) -> PairingPIN {
        var generator = SystemRandomNumberGenerator()
        let digits = (0..<max(length, lengths.lowerBound)).map { _ in
            Character(String(UInt8.random(in: 0...9, using: &generator)))
        }
        return PairingPIN(made: String(digits))
    }

    /// Begins the exchange in which a client (A) and a relay (B) prove that they know the PIN and see each other's
    /// certificates. It takes some 50 ms and 16 MB. Returns `nil` if there is no memory.
    package func exchange(as party: SPAKE2.Party, client: Fingerprint, relay: Fingerprint) -> SPAKE2.Exchange? {
        let salt = Array("heliograph pairing".utf8) + client.bytes + relay.bytes
        var derived = [UInt8](repeating: 0, count: P256.wideCount)
        let digits = Array(text.utf8)
        let isMade = derived.withUnsafeMutableBufferPointer {
            // The usual cost where a person waits (RFC 7914, section 2).
            ccrypto_scrypt(digits, digits.count, salt, salt.count, 1 << 14, 8, 1, $0.baseAddress, $0.count)
        }
        guard isMade != 0, let secret = SPAKE2.Secret(derived) else { return nil }
        return SPAKE2.Exchange(as: party, secret, of: SPAKE2.Identities(a: client.bytes, b: relay.bytes))
    }
}
