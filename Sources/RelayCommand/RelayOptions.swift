import Access
import ArgumentParser
import FoundationEssentials
import Program
import Relay

/// The relay's flags. Each sets the setting with its name in the configuration file, and follows the same rules.
struct RelayOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A YAML file with these settings and the devices (docs/reference/configuration.md). A flag counts more, and so does a "
                + "variable. Default: HELIOGRAPH_RELAY_CONFIG from the environment, else none.",
            valueName: "file"
        )
    )
    var config: String?

    @Flag(help: "Checks the flags and the file, prints ok or their errors, and starts nothing.")
    var checkConfig = false

    @OptionGroup var flags: SettingFlags

    /// The configuration file; `nil` for none.
    var file: String? {
        config ?? ProcessInfo.processInfo.environment[EnvironmentSettings.file].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Reads the configuration: flags override the environment, which overrides the file, which overrides the defaults.
    ///
    /// - Throws: `ConfigurationError`; `RelayStartError` if the token is not available.
    func configuration() throws -> RelayConfiguration {
        let environment = ProcessInfo.processInfo.environment
        let file = try file.map { path throws(ConfigurationError) in try ConfigurationFile.settings(at: path) }
        let variables = try EnvironmentSettings.settings(in: environment)
        return try RelayConfiguration(
            try flags.settings().over(variables).over(file ?? RelaySettings()),
            linkToken: environment[LinkToken.environmentKey],
            stateDirectory: StateFolder.path(in: environment)
        )
    }
}
