import Media

extension SourceRequest {
    /// Longest name of an output or a node.
    private static let longestName = 200

    /// Reads a `source` object; which fields it has depends on its kind.
    package init?(_ reader: inout ObjectReader) {
        reader.require("kind")
        let words = Kind.allCases.map(\.rawValue).joined(separator: ", ")
        // Without a kind nobody can say what else belongs here.
        guard let kind = reader.word("kind", oneOf: words, parse: Kind.init(rawValue:)) else { return nil }
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
        let words = Content.allCases.map(\.rawValue).joined(separator: " or ")
        content = reader.word("content", oneOf: words, parse: Content.init(rawValue:))
    }

    private mutating func readCursor(_ reader: inout ObjectReader) {
        let words = Cursor.allCases.map(\.rawValue).joined(separator: " or ")
        cursor = reader.word("cursor", oneOf: words, parse: Cursor.init(rawValue:))
    }

    private mutating func readSize(_ reader: inout ObjectReader) {
        if reader.has("width") || reader.has("height") { reader.require("width", "height") }
        let (width, height) = (reader.integer("width", in: 16...8192), reader.integer("height", in: 16...8192))
        guard let width, let height else { return }
        size = PictureSize(width: width, height: height)
    }
}
