package import HeliographAPI

/// The settings from one place: the flags, the environment, or the file.
package struct Settings<Configuration: Configurable>: Sendable {
    /// The values that are set, and defaults for all others.
    package private(set) var values = Configuration()
    /// The names of the settings that are set.
    package private(set) var names: Set<String> = []
    /// The place that sets each, by name: `relay.yaml:3:7`, `HELIOGRAPH_RELAY_HTTP`, `--http`.
    package var places: [String: String] = [:]

    package init() {}

    package init(_ values: Configuration, names: Set<String>) {
        self.values = values
        self.names = names
    }

    /// Reads an object whose fields are settings. Other fields are rejected.
    package init(_ reader: inout ObjectReader) {
        for setting in Configuration.settings where setting.read(&reader, &values) { names.insert(setting.name) }
        reader.finish()
    }

    /// Returns these settings, plus those of `others` that are not set here.
    package func over(_ others: Self) -> Self {
        var settings = self
        for setting in Configuration.settings where !names.contains(setting.name) {
            setting.copy(others.values, &settings.values)
        }
        settings.names.formUnion(others.names)
        settings.places.merge(others.places) { own, _ in own }
        return settings
    }
}

extension Settings: Equatable {
    package static func == (left: Self, right: Self) -> Bool {
        left.names == right.names && left.places == right.places
            && !Configuration.settings.contains { $0.differs(left.values, right.values) }
    }
}

/// The settings of the flags, the environment, or the file.
package typealias RelaySettings = Settings<RelayConfiguration>

/// The settings of one device in the file.
package struct DeviceSettings: Sendable, Equatable {
    package let name: String
    package let settings: Settings<DeviceConfiguration>

    package init(name: String, settings: Settings<DeviceConfiguration> = Settings()) {
        self.name = name
        self.settings = settings
    }
}
