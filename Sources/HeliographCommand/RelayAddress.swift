import Access
import ArgumentParser
import FoundationEssentials
import NIOCore

/// The options that select the relay.
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
            "The SHA-256 of the only certificate to trust, as the relay's log and `heliograph status` show it. "
                + "Default: HELIOGRAPH_FINGERPRINT from the environment. Without either, the system's authorities decide.",
            valueName: "sha256"
        )
    )
    var fingerprint: String?

    @OptionGroup var caller: CallerKey

    /// The relay's address without a trailing slash.
    var url: String {
        let url = relay ?? ProcessInfo.processInfo.environment[Self.environmentKey] ?? Self.defaultURL
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    var isSecure: Bool { url.hasPrefix("https://") }

    /// The expected certificate's fingerprint; `nil` if the system's authorities decide.
    var pinned: Fingerprint? { fingerprintText.flatMap(Fingerprint.init(_:)) }

    private var fingerprintText: String? {
        fingerprint ?? ProcessInfo.processInfo.environment[Fingerprint.environmentKey]
    }

    var isOfThisMachine: Bool {
        let host = URL(string: url)?.host() ?? ""
        // A host name may begin with 127. too.
        let isIPv4 = (try? SocketAddress(ipAddress: host, port: 0))?.protocol == .inet
        return host.lowercased() == "localhost" || host == "::1" || isIPv4 && host.hasPrefix("127.")
    }

    /// Returns the key; `nil` if none is given, because the relay may not need one.
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
            throw ValidationError("\(text) is not the SHA-256 of a certificate: it has 64 hexadecimal digits")
        }
        guard fingerprint == nil || isSecure else {
            throw ValidationError("--fingerprint is for addresses with https://")
        }
    }
}
