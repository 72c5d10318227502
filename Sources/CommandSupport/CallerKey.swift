package import Access
package import ArgumentParser
package import HeliographClient

/// The API key that this command sends. It comes from the environment or a file, because a command line would show it
/// to every user of the machine.
package struct CallerKey: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file with the key for the relay, for its user alone (chmod 600). Default: HELIOGRAPH_KEY from the environment, "
                + "else the file that HELIOGRAPH_KEY_FILE names.",
            valueName: "path"
        )
    )
    package var keyFile: String?

    package init() {}

    /// Returns the key; `nil` if none is given, because the relay may not need one.
    package func key() throws(RelayError) -> APIKey? {
        if let key = try keyOfCommandLine() { return key }
        return try RelayEnvironment.key()
    }

    /// Returns the key of ``keyFile``; `nil` if the option is not given.
    package func keyOfCommandLine() throws(RelayError) -> APIKey? { try keyFile.map(RelayEnvironment.key(at:)) }
}
