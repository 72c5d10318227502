import HeliographAPI

/// Reads settings from environment variables: `HELIOGRAPH_RELAY_MAX_SESSIONS` is `maxSessions`. docs/configuration.md describes them.
package enum EnvironmentSettings {
    private static let prefix = "HELIOGRAPH_RELAY_"
    /// Names the configuration file.
    package static let file = prefix + "CONFIG"

    /// The settings of the variables that begin with the prefix. Values are YAML, as in the file; an empty one says nothing.
    package static func settings(in environment: [String: String]) throws(ConfigurationError) -> RelaySettings {
        var members: [JSONValue.Member] = []
        var lines: [String] = []
        let variables = environment.filter { $0.key.hasPrefix(prefix) && $0.key != file && !$0.value.isEmpty }
        for (variable, text) in variables.sorted(by: { $0.key < $1.key }) {
            let name = settingName(of: variable)
            do {
                let document = try YAMLDocument(parsing: text)
                lines += document.faults.map { "\(variable): \($0.statement)" }
                members.append(.init(name: name, value: value(document.root, of: name)))
            } catch {
                lines.append("\(variable): \(error.statement)")
            }
        }
        do throws(FieldIssues) {
            var settings = try ObjectReader.read(members) { RelaySettings(&$0) }
            for member in members { settings.places[member.name] = variableName(of: member.name) }
            if lines.isEmpty { return settings }
        } catch {
            // What was refused above may lack a field now; the field itself is not to blame.
            lines += error.all.map { issue in
                let member = issue.path.dropFirst().joined(separator: ".")
                let statement = member.isEmpty ? issue.statement : "\(member) \(issue.statement)"
                return "\(variableName(of: issue.path.first ?? "")): \(statement)"
            }
        }
        throw ConfigurationError(lines: lines)
    }

    /// A source may be its kind alone, as with the flag.
    private static func value(_ value: JSONValue, of name: String) -> JSONValue {
        let setting = RelayConfiguration.settings.first { $0.name == name }
        guard case .string = value, let member = setting?.flags.first?.member else { return value }
        return .object([.init(name: member, value: value)])
    }

    /// `HELIOGRAPH_RELAY_MAX_SESSIONS` is `maxSessions`.
    private static func settingName(of variable: String) -> String {
        let words = variable.dropFirst(prefix.count).lowercased().split(
            separator: "_",
            omittingEmptySubsequences: false
        )
        return words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    private static func variableName(of setting: String) -> String {
        prefix + setting.map { $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
    }
}
