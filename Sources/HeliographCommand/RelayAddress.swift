import Access
import ArgumentParser
import FoundationEssentials

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
    var url: String { RelayTarget.trimmed(relay ?? Self.ofEnvironment ?? Self.defaultURL) }

    /// Whether the user has chosen a relay.
    var isNamed: Bool { relay != nil || Self.ofEnvironment != nil }

    private static var ofEnvironment: String? { ProcessInfo.processInfo.environment[environmentKey] }

    /// The environment's is for whichever relays have TLS.
    private var fingerprintText: String? {
        let ofEnvironment = ProcessInfo.processInfo.environment[Fingerprint.environmentKey]
        return fingerprint ?? (url.hasPrefix("https://") ? ofEnvironment : nil)
    }

    /// Returns the relay with the user's key.
    func target() throws(CommandError) -> RelayTarget {
        try RelayTarget(url: url, fingerprint: fingerprintText, key: caller.key())
    }

    func validate() throws {
        if let fault = RelayTarget.fault(url: url, fingerprint: fingerprintText) { throw ValidationError(fault) }
    }
}
