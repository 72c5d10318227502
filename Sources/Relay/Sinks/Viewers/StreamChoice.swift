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

/// How a session's TCP port delimits pictures.
package enum Framing: String, Sendable, CaseIterable, Codable {
    /// The bare Annex B byte stream: every player reads it.
    case annexB = "annexb"
    /// A 12-byte header before each packet, as scrcpy's video socket has it.
    case scrcpy

    /// The framing that a user's word names, in any letter case.
    package init?(named name: String) {
        switch name.lowercased() {
        case "annexb", "annex-b", "raw": self = .annexB
        case "scrcpy", "packet", "packetized": self = .scrcpy
        default: return nil
        }
    }
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

/// Where a viewer that joins begins.
package enum Join: String, Sendable, CaseIterable, Codable {
    /// At the last keyframe where that is recent, with all pictures since; else as ``live``.
    case cache
    /// At the next keyframe, which is asked for: no picture of the past.
    case live

    /// What the query of a call says, nil where it says nothing.
    init?(query uri: URI) throws(Problem) {
        guard let word = uri.queryParameters["join"] else { return nil }
        guard let join = Join(rawValue: String(word)) else {
            throw Problem(.unknownValue, "join is \"\(word)\"; allowed: cache or live", field: "join")
        }
        self = join
    }
}
