import HeliographAPI

/// Reads settings from environment variables: `HELIOGRAPH_RELAY_MAX_SESSIONS` sets `maxSessions`.
/// docs/reference/configuration.md describes them.
package enum EnvironmentSettings {
    private static let prefix = "HELIOGRAPH_RELAY_"
    /// The variable that names the configuration file.
    package static let file = prefix + "CONFIG"

    /// Reads the variables that begin with the prefix. Values are YAML, as in the file; empty ones are ignored.
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
            // A value that was rejected above may now lack a field, which is not the real error.
            lines += error.all.map { issue in
                let variable = variableName(of: issue.path.first ?? "")
                // The variable stands for the setting, unless it sets none.
                let field = issue.isUnknownField && issue.path.count == 1 ? issue.path : Array(issue.path.dropFirst())
                guard !field.isEmpty else { return "\(variable): \(issue.statement)" }
                return "\(variable): \(issue.message(naming: field.joined(separator: ".")))"
            }
        }
        throw ConfigurationError(lines: lines)
    }

    /// Turns a source's kind alone into a source, as the flag does.
    private static func value(_ value: JSONValue, of name: String) -> JSONValue {
        let setting = RelayConfiguration.settings.first { $0.name == name }
        guard case .string = value, let member = setting?.flags.first?.member else { return value }
        return .object([.init(name: member, value: value)])
    }

    /// Returns the setting of a variable: `maxSessions` for `HELIOGRAPH_RELAY_MAX_SESSIONS`.
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
