import Access
package import ArgumentParser
import FoundationEssentials
package import HeliographClient

/// The options that select the relay.
package struct RelayAddress: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The relay's address. Default: HELIOGRAPH_RELAY from the environment, else \(RelayEnvironment.defaultURL).",
            valueName: "url"
        )
    )
    package var relay: String?

    @Option(
        help: ArgumentHelp(
            "The SHA-256 of the only certificate to trust, as the relay's log and `heliograph status` show it. "
                + "Default: HELIOGRAPH_FINGERPRINT from the environment, else the one that you trust by `heliograph trust`. "
                + "Without any, the system's authorities decide.",
            valueName: "sha256"
        )
    )
    package var fingerprint: String?

    @OptionGroup package var caller: CallerKey

    package init() {}

    /// The relay's address without a trailing slash.
    package var url: String { RelayTarget.trimmed(relay ?? RelayEnvironment.url ?? RelayEnvironment.defaultURL) }

    /// Whether the user has chosen a relay.
    package var isNamed: Bool { relay != nil || RelayEnvironment.url != nil }

    /// Returns the relay with the user's key.
    package func target() throws -> RelayTarget {
        try RelayEnvironment.target(url: url, fingerprint: fingerprint, key: caller.key())
    }

    package func validate() throws {
        let fingerprint = fingerprint ?? RelayEnvironment.variableFingerprint(for: url)
        if let fault = RelayTarget.fault(url: url, fingerprint: fingerprint) { throw ValidationError(fault) }
    }
}
