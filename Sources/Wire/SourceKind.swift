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
