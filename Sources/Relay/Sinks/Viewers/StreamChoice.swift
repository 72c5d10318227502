package import HeliographAPI
import HummingbirdCore

/// A format for viewers over HTTP and WebSockets. docs/formats.md.
package enum Container: String, Sendable, CaseIterable {
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

/// The form in which a viewer gets a session's stream.
package enum StreamFormat: Hashable, Sendable {
    case bare(Framing)
    case container(Container)

    /// Whether it carries more than a session's pictures.
    var carriesSound: Bool {
        switch self {
        case .bare: false
        case .container: true
        }
    }
}

extension Join {
    /// What the query of a call says, nil where it says nothing.
    init?(query uri: URI) throws(Problem) {
        guard let word = uri.queryParameters["join"] else { return nil }
        guard let join = Join(rawValue: String(word)) else {
            throw Problem(.unknownValue, "join is \"\(word)\"; allowed: cache or live", field: "join")
        }
        self = join
    }
}
