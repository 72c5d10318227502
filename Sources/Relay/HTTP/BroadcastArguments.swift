import Media
import NIOCore

/// The body of a broadcast's start.
struct BroadcastArguments: Sendable {
    private static let defaultTimeout = 15.0

    var device: String
    var timeout: TimeAmount
    var source: SourceRequest?

    init(_ arguments: inout RequestArguments) throws(Problem) {
        device = try arguments.device()
        timeout = TimeAmount(seconds: try arguments.number("timeout", in: 0.1...120) ?? Self.defaultTimeout)
        if var nested = try arguments.object("source") {
            source = try SourceRequest(&nested)
        }
        try arguments.finish()
    }
}

extension SourceRequest {
    /// Longest name of an output or a node.
    private static let longestName = 200

    fileprivate init(_ arguments: inout RequestArguments) throws(Problem) {
        let words = Kind.allCases.map(\.rawValue).joined(separator: ", ")
        let kind = try arguments.required("kind", try arguments.word("kind", oneOf: words, parse: Kind.init(rawValue:)))
        self.init(kind: kind)
        switch kind {
        case .auto, .portal:
            try readCursor(&arguments)
        case .mutter:
            try readCursor(&arguments)
            output = try arguments.string("output", maximumLength: Self.longestName)
            // A monitor made for the purpose has no connector: beside one, a size is left over, and refused as such.
            if output == nil { try readSize(&arguments) }
        case .node:
            node = try arguments.required("node", try arguments.string("node", maximumLength: Self.longestName))
        case .testPattern:
            try readSize(&arguments)
            fps = try arguments.integer("fps", in: 1...240)
        }
        try arguments.finish()
    }

    private mutating func readCursor(_ arguments: inout RequestArguments) throws(Problem) {
        let words = Cursor.allCases.map(\.rawValue).joined(separator: " or ")
        cursor = try arguments.word("cursor", oneOf: words, parse: Cursor.init(rawValue:))
    }

    private mutating func readSize(_ arguments: inout RequestArguments) throws(Problem) {
        let width = try arguments.integer("width", in: 16...8192)
        let height = try arguments.integer("height", in: 16...8192)
        guard width != nil || height != nil else { return }
        size = PictureSize(
            width: try arguments.required("width", width),
            height: try arguments.required("height", height)
        )
    }
}
