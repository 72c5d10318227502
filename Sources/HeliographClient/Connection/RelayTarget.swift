package import Access
import FoundationEssentials
import NIOCore
import Program

/// A relay, the certificate it must have, and the key to show it.
package struct RelayTarget: Sendable {
    /// The address without a trailing slash.
    package let url: String
    /// The fingerprint of the only certificate to trust; `nil` if the system's authorities decide.
    package private(set) var pinned: Fingerprint?
    /// `nil` if there is none, because the relay may not need one.
    package let key: APIKey?
    /// The certificate to show; `nil` for none.
    package private(set) var identity: ClientIdentity?

    /// - Parameter fingerprint: A person's text.
    /// - Throws: ``RelayError`` if an argument is wrong, or the key would be sent in clear text.
    package init(url: String, fingerprint: String?, key: APIKey?) throws(RelayError) {
        if let fault = Self.fault(url: url, fingerprint: fingerprint) { throw RelayError(.badArgument, fault) }
        self.url = Self.trimmed(url)
        pinned = fingerprint.flatMap(Fingerprint.init(_:))
        self.key = key
        guard key == nil || isSecure || isOfThisMachine else {
            throw RelayError(
                .badArgument,
                "\(url) would send the key where others can read it: use https://, or an SSH tunnel"
            )
        }
    }

    package var isSecure: Bool { url.hasPrefix("https://") }

    package var isOfThisMachine: Bool {
        let host = URL(string: url)?.host() ?? ""
        // A host name may begin with 127. too.
        let isIPv4 = (try? SocketAddress(ipAddress: host, port: 0))?.protocol == .inet
        return host.lowercased() == "localhost" || host == "::1" || isIPv4 && host.hasPrefix("127.")
    }

    /// The host and the port; `nil` if the address has no host, which none has that was accepted.
    var place: (host: String, port: Int)? {
        guard let url = URL(string: url), let host = url.host() else { return nil }
        return (host, url.port ?? (isSecure ? 443 : 80))
    }

    /// The address without its path: `https://host:port`. A certificate is for all paths.
    package var origin: String? {
        place.map { "\(isSecure ? "https" : "http")://\(Authority.text($0.lowercased(), $1))" }
    }

    /// Returns the same relay, which must have this certificate.
    package func pinned(to fingerprint: Fingerprint) -> RelayTarget {
        var relay = self
        relay.pinned = fingerprint
        return relay
    }

    /// Returns the same relay, which is shown this certificate.
    package func showing(_ identity: ClientIdentity?) -> RelayTarget {
        var relay = self
        relay.identity = identity
        return relay
    }

    /// Returns an address without its trailing slash.
    package static func trimmed(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }

    /// Returns what is wrong with an address or a fingerprint.
    package static func fault(url: String, fingerprint: String?) -> String? {
        guard url.hasPrefix("https://") || url.hasPrefix("http://"), URL(string: url)?.host() != nil else {
            return "\(url) is not a relay's address, such as http://127.0.0.1:8420"
        }
        if let fingerprint, Fingerprint(fingerprint) == nil {
            return "\(fingerprint) is not the SHA-256 of a certificate: it has 64 hexadecimal digits"
        }
        guard fingerprint == nil || url.hasPrefix("https://") else {
            return "a fingerprint is for addresses with https://"
        }
        return nil
    }
}
