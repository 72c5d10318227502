import CCrypto

/// SHA-256 (FIPS 180-4) and HMAC codes based on it, by OpenSSL's libcrypto.
package enum SHA256 {
    /// The number of bytes of a digest or a code.
    package static let byteCount = 32

    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        output { ccrypto_sha256(bytes, bytes.count, $0) }
    }

    /// Returns a message's HMAC (RFC 2104).
    package static func authenticationCode(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        output { ccrypto_hmac_sha256(key, Int32(clamping: key.count), message, message.count, $0) }
    }

    /// Returns whether two secrets are equal, in a time that does not depend on where they differ.
    package static func isEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.count == second.count && ccrypto_is_equal(first, second, first.count) != 0
    }

    /// Returns what `make` writes. If it fails, which only a lack of memory can cause, the bytes are random and equal
    /// nothing.
    private static func output(_ make: (UnsafeMutablePointer<UInt8>?) -> Int32) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: byteCount)
        return output.withUnsafeMutableBufferPointer({ make($0.baseAddress) }) != 0 ? output : randomBytes(byteCount)
    }
}

/// Returns unpredictable bytes from the kernel (getrandom(2)).
package func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in generator.next() }
}
