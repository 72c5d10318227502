import Access
import ArgumentParser
import FoundationEssentials
import Program
import Relay

/// The relay's flags. Each stands for the setting of its name in the configuration file, and is read by the same rules.
struct RelayOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A YAML file with these settings and the devices (docs/configuration.md). A flag counts more, and so does a "
                + "variable. Default: HELIOGRAPH_RELAY_CONFIG from the environment, else none.",
            valueName: "file"
        )
    )
    var config: String?

    @Flag(help: "Reads the flags and the file, says ok or what is wrong with them, and starts nothing.")
    var checkConfig = false

    @OptionGroup var flags: SettingFlags

    /// The configuration file; nil for none.
    var file: String? {
        config ?? ProcessInfo.processInfo.environment[EnvironmentSettings.file].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The flags over the environment over the file over the defaults.
    ///
    /// - Throws: `ConfigurationError`; `RelayStartError` when the token cannot be had.
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
