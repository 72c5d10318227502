package import HeliographAPI

/// A container format for viewers over HTTP and WebSockets; see docs/reference/formats.md.
package enum Container: String, Sendable, CaseIterable {
    case transportStream = "ts"
    case fragmentedMP4 = "mp4"

    var mediaType: String {
        switch self {
        case .transportStream: "video/mp2t"
        case .fragmentedMP4: "video/mp4"
        }
    }
}

/// The form in which a viewer gets a session's stream.
package enum StreamFormat: Hashable, Sendable {
    case bare(Framing)
    case container(Container)

    /// Whether it can carry audio tracks.
    var carriesSound: Bool {
        switch self {
        case .bare: false
        case .container: true
        }
    }
}
