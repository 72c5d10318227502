/// What a relay says of itself in the local network: the TXT record of DNS-SD (RFC 6763, section 6).
///
/// Names of devices and sessions are not in it.
package struct RelayAnnouncement: Sendable, Hashable {
    /// The service's type, whose name is for relays that speak this record.
    package static let serviceType = "_heliograph._tcp"

    /// How long the parts of a fingerprint are.
    private static let pairs = Array(repeating: 2, count: 32)
    /// The longest value that is believed, in bytes. A string of the record has at most 255.
    private static let longest = 128

    /// Stays the same while the relay's machine and its port do. 1 to 64 plain characters.
    package var id: String
    /// The SHA-256 of the relay's certificate: 32 pairs of hexadecimal digits with colons between them. Any machine can
    /// announce any fingerprint, so it is for finding a relay, not for trusting one.
    package var fingerprint: String
    package var release: String

    /// Whether it admits callers on other machines only if they have paired.
    package var requiresPairing: Bool

    package init(id: String, fingerprint: String, release: String, requiresPairing: Bool) {
        (self.id, self.fingerprint, self.release) = (id, fingerprint, release)
        self.requiresPairing = requiresPairing
    }

    /// The record's strings.
    package var record: [String] {
        [
            "txtvers=1", "id=\(id)", "fp=\(fingerprint)", "v=\(release)",
            "pair=\(requiresPairing ? "required" : "offered")",
        ]
    }

    /// Reads a record. The first of several strings with one key counts, and unknown keys do not.
    ///
    /// Returns `nil` if a key is missing, or its value has an unusual character or length.
    package init?(record: [[UInt8]]) {
        var values: [String: String] = [:]
        for string in record {
            let parts = string.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[1].count <= Self.longest, parts[1].allSatisfy(Self.isPlain) else { continue }
            let key = String(decoding: parts[0], as: UTF8.self).lowercased()
            if values[key] == nil { values[key] = String(decoding: parts[1], as: UTF8.self) }
        }
        guard values["txtvers"] == "1", let id = values["id"], let fingerprint = values["fp"],
            let release = values["v"], !id.isEmpty, id.utf8.count <= 64, !release.isEmpty,
            fingerprint.split(separator: ":", omittingEmptySubsequences: false).map(\.count) == Self.pairs,
            fingerprint.allSatisfy({ $0.isHexDigit || $0 == ":" })
        else { return nil }
        self.init(
            id: id,
            fingerprint: fingerprint,
            release: release,
            requiresPairing: values["pair"] == "required"
        )
    }

    /// Whether a byte can be in a value: letters, digits and a few signs.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-.:_+".utf8.contains(byte)
        }
    }
}
