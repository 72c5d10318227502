/// What an agent captures: the relay is told it, and tells the agent.
package enum SourceKind: String, Sendable, Codable, CaseIterable {
    /// What the desktop offers: Mutter itself, else the portal.
    case auto
    /// The desktop portal's screen cast.
    case portal
    /// GNOME's compositor itself.
    case mutter
    /// A PipeWire node.
    case node
    /// One screenshot after the other.
    case screenshot
    /// A synthetic moving picture.
    case testPattern = "test-pattern"

    /// All kinds, for messages.
    package static let words = allCases.map(\.rawValue).joined(separator: ", ")
}

/// Whether the pointer is in the picture.
package enum CursorDrawing: String, Sendable, Codable, CaseIterable {
    /// Drawn into it, by the compositor or by the agent.
    case embedded
    case hidden
}

/// What of a desktop is captured, where the source has several kinds.
package enum ScreenContent: String, Sendable, Codable, CaseIterable {
    case monitor
    /// One window: that which a person chooses, or which has the input focus where nobody is asked.
    case window
}
