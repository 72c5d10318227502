import Access
import ArgumentParser
import FoundationEssentials
import HeliographClient

/// The options that select the relay.
struct RelayAddress: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The relay's address. Default: HELIOGRAPH_RELAY from the environment, else \(RelayEnvironment.defaultURL).",
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
    var url: String { RelayTarget.trimmed(relay ?? RelayEnvironment.url ?? RelayEnvironment.defaultURL) }

    /// Whether the user has chosen a relay.
    var isNamed: Bool { relay != nil || RelayEnvironment.url != nil }

    private var fingerprintText: String? { fingerprint ?? RelayEnvironment.fingerprint(for: url) }

    /// Returns the relay with the user's key.
    func target() throws -> RelayTarget {
        try RelayTarget(url: url, fingerprint: fingerprintText, key: caller.key())
    }

    func validate() throws {
        if let fault = RelayTarget.fault(url: url, fingerprint: fingerprintText) { throw ValidationError(fault) }
    }
}
