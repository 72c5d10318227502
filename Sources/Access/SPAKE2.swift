import CCrypto

/// SPAKE2 (RFC 9382) with the suite P256-SHA256-HKDF-HMAC: two parties prove to each other that they know the same
/// short secret. A listener learns nothing of it, and a party that does not know it can test one guess in each
/// exchange.
package enum SPAKE2 {
    /// A party of the exchange. A begins, and proves first that it knows the secret.
    package enum Party: Sendable {
        case a, b
    }

    /// Returns whether another party may have sent this: 65 bytes that are a point.
    package static func isShare(_ bytes: [UInt8]) -> Bool {
        let one = [UInt8](repeating: 0, count: 31) + [1]
        return bytes.count == P256.pointCount && P256.product(one, bytes) != nil
    }

    /// What both parties call each other. Exchanges of other parties do not fit.
    package struct Identities: Sendable {
        let a: [UInt8]
        let b: [UInt8]

        package init(a: [UInt8], b: [UInt8]) { (self.a, self.b) = (a, b) }
    }

    /// The secret as a number of the group, 32 bytes.
    package struct Secret: Sendable {
        let scalar: [UInt8]

        /// - Parameter bytes: What a slow hash makes of the secret, at least 40 bytes, so that the number is as good as
        ///   evenly distributed (RFC 9382, section 3.2).
        package init?(_ bytes: [UInt8]) {
            guard let scalar = P256.scalar(bytes) else { return nil }
            self.scalar = scalar
        }

        /// - Parameter scalar: 32 bytes, less than the group's order.
        package init(scalar: [UInt8]) { self.scalar = scalar }
    }

    /// One party's side of an exchange, which begins with sending its share.
    package struct Exchange: Sendable {
        private let party: Party
        private let secret: Secret
        private let identities: Identities
        /// The random number of this exchange, 32 bytes.
        private let random: [UInt8]
        /// What the other party needs: a point, 65 bytes.
        package let share: [UInt8]

        /// Returns `nil` if there is no memory.
        package init?(as party: Party, _ secret: Secret, of identities: Identities) {
            guard let random = P256.scalar(randomBytes(P256.wideCount)) else { return nil }
            self.init(as: party, secret, of: identities, random: random)
        }

        /// Creates the side of a party whose random number is known, as in the vectors of RFC 9382. Such an exchange
        /// keeps no secret.
        ///
        /// - Parameter random: 32 bytes, less than the group's order.
        package init?(as party: Party, _ secret: Secret, of identities: Identities, random: [UInt8]) {
            guard let blind = P256.product(secret.scalar, party.blind), let open = P256.product(random, nil),
                let share = P256.sum(open, blind)
            else { return nil }
            (self.party, self.secret, self.identities) = (party, secret, identities)
            (self.random, self.share) = (random, share)
        }

        /// Returns the codes that confirm the exchange; `nil` if what the other party sent is not a share.
        package func confirmations(with other: [UInt8]) -> Confirmations? {
            guard other.count == P256.pointCount, let blind = P256.product(secret.scalar, party.other.blind),
                let open = P256.sum(other, blind, negates: true), let key = P256.product(random, open)
            else { return nil }
            let shares = party == .a ? [share, other] : [other, share]
            let parts = [identities.a, identities.b] + shares + [key, secret.scalar]
            return Confirmations(party, transcript: parts.flatMap { Self.length($0) + $0 })
        }

        /// Returns a part's number of bytes in eight bytes, least significant first (RFC 9382, section 3.3).
        private static func length(_ part: [UInt8]) -> [UInt8] {
            let count = UInt64(part.count)
            return (0..<8).map { UInt8(truncatingIfNeeded: count >> ($0 &* 8)) }
        }
    }

    /// The codes by which each party proves that it has come to the same key (RFC 9382, section 4), 32 bytes each.
    package struct Confirmations: Sendable {
        /// What this party sends.
        package let own: [UInt8]
        private let expected: [UInt8]

        fileprivate init(_ party: Party, transcript: [UInt8]) {
            // The first half of the hash is the key that the exchange agrees on. TLS has its own.
            let authentication = Array(SHA256.hash(transcript).suffix(16))
            let salt = [UInt8](repeating: 0, count: SHA256.byteCount)
            let pseudorandom = SHA256.authenticationCode(of: authentication, key: salt)
            // HKDF (RFC 5869): what is asked for is one block.
            let keys = SHA256.authenticationCode(of: Array("ConfirmationKeys".utf8) + [1], key: pseudorandom)
            let codes = [keys.prefix(16), keys.suffix(16)].map {
                SHA256.authenticationCode(of: transcript, key: Array($0))
            }
            (own, expected) = party == .a ? (codes[0], codes[1]) : (codes[1], codes[0])
        }

        /// Returns whether the other party knows the secret, in a time that does not depend on its code.
        package func confirm(_ code: [UInt8]) -> Bool { SHA256.isEqual(code, expected) }
    }
}

extension SPAKE2.Party {
    fileprivate var other: SPAKE2.Party { self == .a ? .b : .a }

    /// The point that hides the party's share: M or N (RFC 9382, section 6).
    fileprivate var blind: [UInt8] {
        let digits =
            switch self {
            case .a: "02886e2f97ace46e55ba9dd7242579f2993b64e16ef3dcab95afd497333d8fa12f"
            case .b: "03d8bbd6c639c62937b04d997f38c3770719c629d7014d49a24b4f98baa1292b49"
            }
        return Hexadecimal.bytes(in: digits) ?? []
    }
}

/// Arithmetic of the elliptic curve P-256 (FIPS 186-4, D.1.2.3), by OpenSSL's libcrypto. The results are `nil` if a
/// point is not on the curve, or a result is zero, or there is no memory.
enum P256 {
    static let pointCount = Int(CCRYPTO_P256_POINT)
    /// How many random bytes make an evenly distributed scalar: 64 bits more than it has.
    static let wideCount = scalarCount &+ 8

    private static let scalarCount = Int(CCRYPTO_P256_SCALAR)

    /// Returns a number modulo the group's order.
    static func scalar(_ number: [UInt8]) -> [UInt8]? {
        output(scalarCount) { ccrypto_p256_reduce(number, number.count, $0) }
    }

    /// Returns `scalar`, 32 bytes, times a point; times the generator if it is `nil`.
    static func product(_ scalar: [UInt8], _ point: [UInt8]?) -> [UInt8]? {
        guard scalar.count == scalarCount else { return nil }
        return output(pointCount) { result in
            guard let point else { return ccrypto_p256_multiply(nil, 0, scalar, result) }
            return ccrypto_p256_multiply(point, point.count, scalar, result)
        }
    }

    /// Returns the sum of two points of 65 bytes, or their difference.
    static func sum(_ first: [UInt8], _ second: [UInt8], negates: Bool = false) -> [UInt8]? {
        guard first.count == pointCount, second.count == pointCount else { return nil }
        return output(pointCount) { ccrypto_p256_add(first, second, negates ? 1 : 0, $0) }
    }

    private static func output(_ count: Int, _ make: (UnsafeMutablePointer<UInt8>?) -> Int32) -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: count)
        return output.withUnsafeMutableBufferPointer({ make($0.baseAddress) }) != 0 ? output : nil
    }
}
