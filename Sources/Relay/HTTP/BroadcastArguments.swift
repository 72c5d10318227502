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
    fileprivate init(_ arguments: inout RequestArguments) throws(Problem) {
        let words = Kind.allCases.map(\.rawValue).joined(separator: " or ")
        let kind = try arguments.required("kind", try arguments.word("kind", oneOf: words, parse: Kind.init(rawValue:)))
        self.init(kind: kind)
        if kind == .testPattern {
            let width = try arguments.integer("width", in: 16...8192)
            let height = try arguments.integer("height", in: 16...8192)
            if width != nil || height != nil {
                size = PictureSize(
                    width: try arguments.required("width", width),
                    height: try arguments.required("height", height)
                )
            }
            fps = try arguments.integer("fps", in: 1...240)
        }
        try arguments.finish()
    }
}
