/// Whether the pointer is in the picture.
package enum CursorDrawing: String, Sendable, CaseIterable {
    /// Drawn into it by the compositor.
    case embedded
    case hidden
}
