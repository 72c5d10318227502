/// A format that a session's pictures are packaged in for those who watch over HTTP. docs/formats.md.
enum Container: String, Sendable, CaseIterable {
    case transportStream = "ts"
    case fragmentedMP4 = "mp4"

    var mediaType: String {
        switch self {
        case .transportStream: "video/mp2t"
        case .fragmentedMP4: "video/mp4"
        }
    }

    /// Where the streams of sessions are; `id` may be a route's parameter.
    func streamPath(of id: some CustomStringConvertible) -> String { "/screencapture/\(id)/stream.\(rawValue)" }
}
