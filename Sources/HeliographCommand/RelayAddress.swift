import Access
import ArgumentParser
import FoundationEssentials
import NIOCore

/// Which relay to talk to.
struct RelayAddress: ParsableArguments {
    private static let environmentKey = "HELIOGRAPH_RELAY"
    private static let defaultURL = "http://127.0.0.1:8420"

    @Option(
        help: ArgumentHelp(
            "The relay's address. Default: HELIOGRAPH_RELAY from the environment, else \(Self.defaultURL).",
            valueName: "url"
        )
    )
    var relay: String?

    @Option(
        help: ArgumentHelp(
            "The SHA-256 of the certificate that the relay is to have, as its log and `heliograph status` show it; no other is trusted then. "
                + "Default: HELIOGRAPH_FINGERPRINT from the environment, else the system's authorities decide.",
            valueName: "sha256"
        )
    )
    var fingerprint: String?

    @OptionGroup var caller: CallerKey

    /// The relay's address without a slash at its end.
    var url: String {
        let url = relay ?? ProcessInfo.processInfo.environment[Self.environmentKey] ?? Self.defaultURL
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    var isSecure: Bool { url.hasPrefix("https://") }

    /// The certificate that is asked for; nil where the system's authorities decide.
    var pinned: Fingerprint? { fingerprintText.flatMap(Fingerprint.init(_:)) }

    private var fingerprintText: String? {
        fingerprint ?? ProcessInfo.processInfo.environment[Fingerprint.environmentKey]
    }

    var isOfThisMachine: Bool {
        let host = URL(string: url)?.host() ?? ""
        // A name may begin with 127. as well.
        let isIPv4 = (try? SocketAddress(ipAddress: host, port: 0))?.protocol == .inet
        return host.lowercased() == "localhost" || host == "::1" || isIPv4 && host.hasPrefix("127.")
    }

    /// The key to show; nil where none is given: the relay may want none.
    func key() throws(CommandError) -> APIKey? {
        let key = try caller.key()
        guard key == nil || isSecure || isOfThisMachine else {
            throw .failed("\(url) would send the key where others can read it: use https://, or an SSH tunnel")
        }
        return key
    }

    func validate() throws {
        guard isSecure || url.hasPrefix("http://") else {
            throw ValidationError("\(url) is not a relay's address, such as \(Self.defaultURL)")
        }
        if let text = fingerprintText, Fingerprint(text) == nil {
            throw ValidationError("\(text) is no SHA-256 of a certificate: 64 hexadecimal digits")
        }
        guard fingerprint == nil || isSecure else {
            throw ValidationError("--fingerprint is for addresses with https://")
        }
    }
}
