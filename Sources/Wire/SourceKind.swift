/// The kind of an agent's capture source, in configurations and in HELLO.
package enum SourceKind: String, Sendable, Codable, CaseIterable {
    /// What the desktop offers: Mutter, its portal if a person can answer it, otherwise screenshots.
    case auto
    /// The desktop portal's screencast.
    case portal
    /// GNOME's compositor.
    case mutter
    /// A PipeWire node.
    case node
    /// One screenshot after another.
    case screenshot
    /// A synthetic moving picture.
    case testPattern = "test-pattern"

    /// All kinds, separated by commas, for messages.
    package static let words = allCases.map(\.rawValue).joined(separator: ", ")
}

/// Whether pictures show the pointer.
package enum CursorDrawing: String, Sendable, Codable, CaseIterable {
    /// The compositor or the agent draws it.
    case embedded
    case hidden
}

/// The part of a desktop to capture, if the source offers several kinds.
package enum ScreenContent: String, Sendable, Codable, CaseIterable {
    case monitor
    /// One window: the one that a person chooses, or the one with the input focus if the source shows no dialog.
    case window
}
