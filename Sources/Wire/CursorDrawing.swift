/// Whether the pointer is in the picture.
package enum CursorDrawing: String, Sendable, Codable, CaseIterable {
    /// Drawn into it, by the compositor or by the agent.
    case embedded
    case hidden
}
