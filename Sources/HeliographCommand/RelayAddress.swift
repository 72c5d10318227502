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
                + "Default: HELIOGRAPH_FINGERPRINT from the environment, else the one that you trust by `heliograph trust`. "
                + "Without any, the system's authorities decide.",
            valueName: "sha256"
        )
    )
    var fingerprint: String?

    @OptionGroup var caller: CallerKey

    /// The relay's address without a trailing slash.
    var url: String { RelayTarget.trimmed(relay ?? RelayEnvironment.url ?? RelayEnvironment.defaultURL) }

    /// Whether the user has chosen a relay.
    var isNamed: Bool { relay != nil || RelayEnvironment.url != nil }

    /// Returns the relay with the user's key.
    func target() throws -> RelayTarget {
        try RelayEnvironment.target(url: url, fingerprint: fingerprint, key: caller.key())
    }

    func validate() throws {
        let fingerprint = fingerprint ?? RelayEnvironment.variableFingerprint(for: url)
        if let fault = RelayTarget.fault(url: url, fingerprint: fingerprint) { throw ValidationError(fault) }
    }
}
