import Files
import FoundationEssentials
package import SystemPackage

/// What a person has set in the window, kept for each relay.
package struct ViewerSettings: Sendable, Hashable, Codable {
    /// 0 to 1.
    package var volume = 1.0
    package var isMuted = false
    /// The loudspeaker; `nil` for the desktop's default.
    package var speaker: String?
    package var showsStatistics = false
    /// The corner of the statistics.
    package var corner = Corner.topLeft
    package var isFullScreen = false
    /// The window's size in the desktop's units; `nil` for that of the picture.
    package var width: Int?
    package var height: Int?

    package init() {}

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys, _ standard: Value) -> Value {
            (try? container.decodeIfPresent(Value.self, forKey: key)) ?? standard
        }
        volume = min(max(value(.volume, 1.0), 0), 1)
        (isMuted, showsStatistics) = (value(.isMuted, false), value(.showsStatistics, false))
        (isFullScreen, corner) = (value(.isFullScreen, false), value(.corner, corner))
        speaker = value(.speaker, nil)
        let (width, height): (Int?, Int?) = (value(.width, nil), value(.height, nil))
        guard let width, let height, Self.sides.contains(width), Self.sides.contains(height) else { return }
        (self.width, self.height) = (width, height)
    }

    /// The possible sides of a window.
    private static let sides = 1...16_384
}

/// The settings for all relays: JSON in the user's folder for configuration.
package struct ViewerSettingsFile: Sendable {
    private static let maximumSize = 1 << 20
    /// The most relays. Others begin with the defaults.
    private static let maximumCount = 1000

    private let path: FilePath

    package init(path: FilePath) { self.path = path }

    /// Returns that of this user: `$XDG_CONFIG_HOME/heliograph/view.json`, by default in `~/.config`; `nil` without a
    /// home.
    package static func usual(in environment: [String: String]) -> ViewerSettingsFile? {
        func folder(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        return (folder("XDG_CONFIG_HOME") ?? folder("HOME").map { $0 + "/.config" })
            .map { ViewerSettingsFile(path: FilePath($0).appending("heliograph").appending("view.json")) }
    }

    /// Returns the settings for a relay; the defaults if there are none, or if they cannot be read.
    package func settings(of relay: String) -> ViewerSettings { all()[relay] ?? ViewerSettings() }

    /// Keeps the settings for a relay.
    package func set(_ settings: ViewerSettings, of relay: String) throws {
        let lock = try ReplacedFile.lockFolder(of: path)
        defer { try? lock.close() }
        var all = all()
        guard all[relay] != settings, all[relay] != nil || all.count < Self.maximumCount else { return }
        all[relay] = settings
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let bytes = [UInt8](try encoder.encode(all)) + [0x0A]
        try ReplacedFile.write(bytes, to: path)
    }

    private func all() -> [String: ViewerSettings] {
        guard let bytes = try? BoundedFile.read(path, atMost: Self.maximumSize) else { return [:] }
        return (try? JSONDecoder().decode([String: ViewerSettings].self, from: Data(bytes))) ?? [:]
    }
}
