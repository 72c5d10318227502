import Relay

/// The tables in docs/reference/configuration.md that list settings.
enum SettingReference {
    /// The text of each table, by the name in its marks in the page.
    static let tables = ["settings": settings, "reload": reload, "devices": devices]

    private static let sharedNames = RelayConfiguration.settings.map(\.name).filter { name in
        DeviceConfiguration.settings.contains { $0.name == name }
    }

    private static let ownOfDevices = DeviceConfiguration.settings.filter { !sharedNames.contains($0.name) }

    private static let settings = table(
        ["name", "type, range", "default", "flag", ""],
        RelayConfiguration.settings.map { setting in
            let flags = setting.flags.map { "`--\($0.longName)`" }.joined(separator: ", ")
            return [setting.name, setting.range, setting.standard ?? "", flags, setting.summary]
        }
    )

    private static let devices = table(
        ["name", "type, range", "default", ""],
        [[sharedNames.joined(separator: ", "), "as above", "the relay's", ""]]
            + ownOfDevices.map { [$0.name, $0.range, $0.standard ?? "", $0.summary] }
    )

    private static let reload = table(
        ["settings", "when a reload changes them"],
        SettingChange.allCases.map { change in
            let names =
                RelayConfiguration.settings.filter { $0.change == change }.map(\.name)
                + ownOfDevices.filter { $0.change == change }.map(\.name)
            return [names.joined(separator: ", "), change.rawValue]
        }
    )

    /// Returns a table in Markdown.
    static func table(_ columns: [String], _ rows: [[String]]) -> String {
        let divider = "|" + String(repeating: "---|", count: columns.count) + "\n"
        return row(columns) + divider + rows.map(row).joined()
    }

    private static func row(_ cells: [String]) -> String {
        "|" + cells.map { $0.isEmpty ? " |" : " \($0) |" }.joined() + "\n"
    }
}
