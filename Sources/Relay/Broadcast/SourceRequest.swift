package import Media

/// What a broadcast is to capture.
package struct SourceRequest: Sendable, Equatable, Codable {
    package enum Kind: String, Sendable, CaseIterable, Codable {
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
    }

    /// Whether the pointer is in the picture.
    package enum Cursor: String, Sendable, CaseIterable, Codable {
        case embedded, hidden
    }

    /// What of the desktop is captured, where the source has several kinds.
    package enum Content: String, Sendable, CaseIterable, Codable {
        case monitor, window
    }

    package var kind: Kind
    package var content: Content?
    package var cursor: Cursor?
    /// The monitor's connector, where the source names monitors.
    package var output: String?
    /// The PipeWire node's name, serial or id.
    package var node: String?
    /// The test pattern's size, or that of a monitor that Mutter makes for the purpose.
    package var size: PictureSize?
    /// The test pattern's frames per second, 1 to 240.
    package var fps: Int?

    package init(kind: Kind, size: PictureSize? = nil, fps: Int? = nil) {
        self.kind = kind
        self.size = size
        self.fps = fps
    }

    /// The agent's arguments that say the same.
    var agentArguments: [String] {
        var arguments = ["--source", kind.rawValue]
        if let content { arguments += ["--content", content.rawValue] }
        if let cursor { arguments += ["--cursor", cursor.rawValue] }
        if let output { arguments += ["--output=\(output)"] }
        if let node { arguments += ["--node=\(node)"] }
        if let size { arguments += ["--size", size.description] }
        if let fps { arguments += ["--fps", String(fps)] }
        return arguments
    }
}
