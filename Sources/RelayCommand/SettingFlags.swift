import ArgumentParser
import HeliographAPI
import Relay

/// The flags from the table of settings.
///
/// ArgumentParser finds the flags of a type by reflection on an instance, and then decodes them by name. It usually
/// meets properties declared `@Option` and `@Flag`; this type shows it one for each flag of the table instead.
struct SettingFlags: ParsableArguments, CustomReflectable {
    private static let flags = RelayConfiguration.settings.flatMap(\.flags)

    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// The values of the given flags, by their names.
    private var values: [String: JSONValue] = [:]

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        for flag in Self.flags {
            func value<Value: Decodable>(_ type: Value.Type) throws -> Value? {
                try container.decode(Option<Value?>.self, forKey: Key(stringValue: flag.name)).wrappedValue
            }
            values[flag.name] =
                switch flag.argument {
                case .integer: try value(Int.self).map(JSONValue.integer)
                case .number: try value(Double.self).map(JSONValue.number)
                case .text: try value(String.self).map(JSONValue.string)
                case .list:
                    try value(String.self).map { .array($0.split(separator: ",").map { .string(String($0)) }) }
                case .nothing:
                    try container.decode(Flag<Bool>.self, forKey: Key(stringValue: flag.name)).wrappedValue ? true : nil
                }
        }
    }

    var customMirror: Mirror {
        Mirror(self, children: Self.flags.map { (label: $0.name, value: Self.declaration(of: $0)) })
    }

    private static func declaration(of flag: SettingFlag) -> Any {
        let name = NameSpecification.customLong(flag.longName)
        let help = ArgumentHelp(stringLiteral: flag.help)
        var optionHelp = help
        optionHelp.valueName = flag.valueName
        return switch flag.argument {
        case .integer: Option<Int?>(name: name, help: optionHelp)
        case .number: Option<Double?>(name: name, help: optionHelp)
        case .text, .list: Option<String?>(name: name, help: optionHelp)
        case .nothing: Flag<Bool>(wrappedValue: false, name: name, help: help)
        }
    }

    func validate() throws {
        guard (values["source"] == "node") == (values["node"] != nil) else {
            throw ValidationError("--source node needs --node, and only it")
        }
        let isKeyAlone = (values["tlsCertificate"] == nil) != (values["tlsKey"] == nil)
        guard !isKeyAlone, values["tls"] == nil || values["tlsKey"] == nil else {
            throw ValidationError("--tls-certificate and --tls-key go together, and without --tls")
        }
        do {
            _ = try settings()
        } catch let issues as FieldIssues {
            let lines = issues.all.map { $0.message(naming: Self.flag(for: $0.path)) }
            throw ValidationError(lines.joined(separator: "\n"))
        }
    }

    /// Reads the settings from the given flags.
    ///
    /// - Throws: ``FieldIssues``
    func settings() throws -> RelaySettings {
        let members = RelayConfiguration.settings.compactMap { setting -> JSONValue.Member? in
            let said = setting.flags.compactMap { flag in values[flag.name].map { (member: flag.member, value: $0) } }
            guard let first = said.first else { return nil }
            guard first.member != nil else { return .init(name: setting.name, value: first.value) }
            let fields = said.map { JSONValue.Member(name: $0.member ?? "", value: $0.value) }
            return .init(name: setting.name, value: .object(fields))
        }
        var settings = try ObjectReader.read(members) { RelaySettings(&$0) }
        for member in members { settings.places[member.name] = Self.flag(for: [member.name]) }
        return settings
    }

    /// Returns the flag for the field at `path`: `--tls-key` for `tls.key`, `--source` for `source`.
    private static func flag(for path: [String]) -> String {
        let flags = RelayConfiguration.settings.first { $0.name == path.first }?.flags ?? []
        let flag = flags.first { $0.member != nil && $0.member == path.dropFirst().first } ?? flags.first
        return "--\(flag?.longName ?? "")"
    }
}
