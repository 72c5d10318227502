import HeliographAPI

/// A configuration that consists of settings.
package protocol Configurable: Sendable {
    /// Creates the defaults.
    init()
    /// All settings, in the order of the reference.
    static var settings: [Setting<Self>] { get }
}

/// The description of one setting, used by the file, the environment, the flags, a reload and the reference.
package struct Setting<Configuration: Configurable>: Sendable {
    /// The name in the configuration file. The variable's name follows from it.
    package let name: String
    /// The allowed values, in Markdown.
    package let range: String
    /// The default, in Markdown; `nil` for none.
    package let standard: String?
    /// What it does, in Markdown.
    package let summary: String
    /// When a reload applies a change.
    package let change: SettingChange
    /// The flags that set it; empty if only a file or a variable can.
    package let flags: [SettingFlag]
    /// Whether each device has its own value. If so, a reload compares devices instead of the setting.
    package let isOfDevices: Bool

    /// Reads the field into a configuration, and returns whether it had a valid value.
    let read: @Sendable (inout ObjectReader, inout Configuration) -> Bool
    /// Copies the value from one configuration to another.
    let copy: @Sendable (Configuration, inout Configuration) -> Void
    /// Whether two configurations have different values.
    let differs: @Sendable (Configuration, Configuration) -> Bool

    /// Describes a setting.
    ///
    /// - Parameters:
    ///   - path: The property with the value, which holds the default at first.
    ///   - standard: The default in words, unless the type can write it.
    init<Value: Equatable & Sendable>(
        _ name: String,
        _ path: any WritableKeyPath<Configuration, Value> & Sendable,
        _ type: SettingType<Value>,
        _ change: SettingChange,
        default standard: String? = nil,
        isOfDevices: Bool = false,
        summary: () -> String
    ) {
        self.name = name
        self.range = type.range
        self.standard = standard ?? type.text(Configuration()[keyPath: path])
        self.summary = summary()
        self.change = change
        self.isOfDevices = isOfDevices
        flags = type.flags(of: name, summary: self.summary, default: self.standard)
        read = { reader, configuration in
            guard let value = type.read(&reader, name) else { return false }
            configuration[keyPath: path] = value
            return true
        }
        copy = { $1[keyPath: path] = $0[keyPath: path] }
        differs = { $0[keyPath: path] != $1[keyPath: path] }
    }
}

extension Setting where Configuration == RelayConfiguration {
    /// Returns the setting with this name for all devices that do not set their own value.
    static func ofDevices(_ name: String) -> [Setting] {
        DeviceConfiguration.settings.filter { $0.name == name }.map(Setting.init(ofDevices:))
    }

    private init(ofDevices setting: Setting<DeviceConfiguration>) {
        name = setting.name
        range = setting.range
        standard = setting.standard
        summary = setting.summary
        change = setting.change
        flags = setting.flags
        isOfDevices = true
        read = { setting.read(&$0, &$1.eachDevice) }
        copy = { setting.copy($0.eachDevice, &$1.eachDevice) }
        differs = { setting.differs($0.eachDevice, $1.eachDevice) }
    }
}

/// When a reload applies a change of a setting, in the reference's words.
package enum SettingChange: String, Sendable, CaseIterable {
    case atOnce = "At once. What is there stays, even above a new limit."
    case forConnections = "For new connections."
    case forSessions = "For new sessions."
    case forRecordings = "For recordings that begin afterwards."
    case forAgents = "When the relay next starts an agent."
    case forLosses = "When the relay next loses an agent."
    case forBroadcasts = "When the device's broadcast next starts; for its fallback, when the standby next starts."
    case atRestart = "When the relay next starts."
}

/// A flag that sets a setting, or one member of a setting that is an object.
package struct SettingFlag: Sendable {
    /// How the argument becomes the setting's value.
    package enum Argument: Sendable {
        case integer, number, text
        /// Strings separated by commas.
        case list
        /// No argument: the flag alone means `true`.
        case nothing
    }

    /// The flag's name in camel case: `maxSessions` is `--max-sessions`.
    package let name: String
    /// The member that it sets; `nil` for the whole setting.
    package let member: String?
    package let argument: Argument
    /// The placeholder for the argument in the help.
    package let valueName: String
    /// The help, in plain text.
    package let help: String

    init(_ name: String, member: String? = nil, _ argument: Argument, _ valueName: String, _ help: String) {
        self.name = name
        self.member = member
        self.argument = argument
        self.valueName = valueName
        // The help in a terminal cannot show links.
        self.help = help.replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.output.1 }
    }

    /// The flag's name in kebab case, without leading hyphens.
    package var longName: String { name.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined() }
}
