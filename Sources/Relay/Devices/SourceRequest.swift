package import Media
package import Wire

/// What a broadcast is to capture.
package struct SourceRequest: Sendable, Equatable, Codable {
    package var kind: SourceKind
    package var content: ScreenContent?
    package var cursor: CursorDrawing?
    /// The monitor's connector, where the source names monitors.
    package var output: String?
    /// The PipeWire node's name, serial or id.
    package var node: String?
    /// The test pattern's size, or that of a monitor that Mutter makes for the purpose.
    package var size: PictureSize?
    /// The test pattern's frames per second, 1 to 240.
    package var fps: Int?

    package init(kind: SourceKind, size: PictureSize? = nil, fps: Int? = nil) {
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

extension SourceRequest {
    /// Longest name of an output or a node.
    private static let longestName = 200

    /// Reads a `source` object; which fields it has depends on its kind.
    package init?(_ reader: inout ObjectReader) {
        reader.require("kind")
        // Without a kind nobody can say what else belongs here.
        guard let kind = reader.word("kind", oneOf: SourceKind.words, parse: SourceKind.init(rawValue:)) else {
            return nil
        }
        self.init(kind: kind)
        switch kind {
        case .auto, .portal:
            readCursor(&reader)
            readContent(&reader)
        case .mutter:
            readCursor(&reader)
            readContent(&reader)
            // A window has no connector and no size to choose, and a monitor made for the purpose has no connector: what is one
            // too many is left over, and refused as such.
            guard content != .window else { break }
            let isNamed = reader.has("output")
            output = reader.string("output", length: 0...Self.longestName)
            if !isNamed { readSize(&reader) }
        case .node:
            reader.require("node")
            node = reader.string("node", length: 0...Self.longestName)
        case .screenshot:
            readCursor(&reader)
            output = reader.string("output", length: 0...Self.longestName)
        case .testPattern:
            readSize(&reader)
            fps = reader.integer("fps", in: 1...240)
        }
        reader.finish()
    }

    private mutating func readContent(_ reader: inout ObjectReader) {
        let words = ScreenContent.allCases.map(\.rawValue).joined(separator: " or ")
        content = reader.word("content", oneOf: words, parse: ScreenContent.init(rawValue:))
    }

    private mutating func readCursor(_ reader: inout ObjectReader) {
        let words = CursorDrawing.allCases.map(\.rawValue).joined(separator: " or ")
        cursor = reader.word("cursor", oneOf: words, parse: CursorDrawing.init(rawValue:))
    }

    private mutating func readSize(_ reader: inout ObjectReader) {
        if reader.has("width") || reader.has("height") { reader.require("width", "height") }
        let (width, height) = (reader.integer("width", in: 16...8192), reader.integer("height", in: 16...8192))
        guard let width, let height else { return }
        size = PictureSize(width: width, height: height)
    }
}
