/// What a key does while the person controls no device. Otherwise, all keys go to the device.
package enum Shortcut: Sendable, Hashable, CaseIterable {
    case quit, fullScreen, scale, statistics, moveStatistics, mute, louder, quieter, save, keyframe, speak, lock,
        gamepad, wall, next, help

    /// The key: its letter, or its name in SDL.
    package var key: String {
        switch self {
        case .quit: "Q"
        case .fullScreen: "F"
        case .scale: "Z"
        case .statistics: "S"
        case .moveStatistics: "P"
        case .mute: "M"
        case .louder: "Up"
        case .quieter: "Down"
        case .save: "C"
        case .keyframe: "K"
        case .speak: "T"
        case .lock: "L"
        case .gamepad: "G"
        case .wall: "Escape"
        case .next: "Tab"
        case .help: "H"
        }
    }

    /// What it does, for people.
    package var text: String {
        switch self {
        case .quit: "quit"
        case .fullScreen: "full screen, and back"
        case .scale: "pixel for pixel, or as large as the window"
        case .statistics: "statistics on and off"
        case .moveStatistics: "statistics in the next corner"
        case .mute: "sound on and off"
        case .louder: "louder"
        case .quieter: "quieter"
        case .save: "save the picture as PNG"
        case .keyframe: "ask for a keyframe"
        case .speak: "microphone on when you control next, or off"
        case .lock: "pointer locked when you control next, or not"
        case .gamepad: "the next gamepad of this machine, or none"
        case .wall: "back to all sessions"
        case .next: "the next session, alone"
        case .help: "this help"
        }
    }

    /// Returns the shortcut of a key; `nil` if it has none.
    package init?(key: String) {
        guard let found = Self.allCases.first(where: { $0.key == key }) else { return nil }
        self = found
    }

    /// One line for each.
    package static var helpText: String {
        let width = allCases.map(\.key.count).max() ?? 0
        let lines = allCases.map { shortcut in
            shortcut.key + String(repeating: " ", count: width - shortcut.key.count) + "  " + shortcut.text
        }
        return (lines + ["Click into a picture to control its device. Hold Escape for a second to stop."])
            .joined(separator: "\n")
    }
}
