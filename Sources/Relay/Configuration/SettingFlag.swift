/// A flag that says a setting, or one member of a setting that is an object.
package struct SettingFlag: Sendable {
    /// How the argument becomes the setting's value.
    package enum Argument: Sendable {
        case integer, number, text
        /// Strings with commas between.
        case list
        /// There is none: the flag alone means `true`.
        case nothing
    }

    /// The flag's name in camel case: `maxSessions` is `--max-sessions`.
    package let name: String
    /// The member that it says; nil for the whole setting.
    package let member: String?
    package let argument: Argument
    /// What stands for the argument in the help.
    package let valueName: String
    /// The help, in plain text.
    package let help: String

    init(_ name: String, member: String? = nil, _ argument: Argument, _ valueName: String, _ help: String) {
        self.name = name
        self.member = member
        self.argument = argument
        self.valueName = valueName
        // A terminal shows no links.
        self.help = help.replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.output.1 }
    }

    /// The flag's name in kebab case, without hyphens before it.
    package var longName: String { name.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined() }
}
