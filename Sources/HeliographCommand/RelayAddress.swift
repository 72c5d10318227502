import ArgumentParser
import FoundationEssentials

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

    /// The relay's address without a slash at its end.
    var url: String {
        let url = relay ?? ProcessInfo.processInfo.environment[Self.environmentKey] ?? Self.defaultURL
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    func validate() throws {
        guard url.hasPrefix("http://") else {
            throw ValidationError("\(url) is not a relay's address, such as \(Self.defaultURL)")
        }
    }
}
