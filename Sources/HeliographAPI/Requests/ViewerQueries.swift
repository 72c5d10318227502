/// The query of GET /screencapture/{id}/snapshot.jpg and snapshot.png.
package struct SnapshotQuery: APIModel {
    package var width: Int?
    package var use = true
    package var fresh = false

    package init() {}

    package static let schema = Schema.request(
        nil,
        [
            Field(
                "width",
                .integer(16...1920),
                """
                The longest side of a smaller picture, in pixels, rounded down to a multiple of 16. It is upright, and does \
                not wake a session that is asleep. Default: the session's own picture.
                """
            ),
            Field("use", .bool.default(true), "Whether the call keeps the session from ending by its `ttl`."),
            Field(
                "fresh",
                .bool.default(false),
                """
                Whether the frame must be captured after the call, if the screen changes. Otherwise the picture may be up \
                to 1 s old.
                """
            ),
        ]
    )
}

/// The query of GET /screencapture/{id}/stream.mjpeg.
package struct MotionJPEGQuery: APIModel {
    package var fps: Int?

    package init() {}

    package static let schema = Schema.request(
        nil,
        [
            Field(
                "fps",
                .integer(1...240),
                "Most pictures per second, up to the session's. Default: 5, or the session's if less."
            )
        ]
    )
}

/// The query of a session's streams.
package struct StreamQuery: APIModel {
    package var join: Join?
    package var audio = StreamAudio.on

    package init() {}

    package static let schema = Schema.request(
        nil,
        [
            joining,
            Field(
                "audio",
                .words(StreamAudio.self).default(.string(StreamAudio.on.rawValue)),
                """
                The codec in which a container has the device's sound: `opus` or `aac`; `true` is `opus`, and `false` no \
                sound. Bare streams have none.
                """
            ),
        ]
    )

    fileprivate static let joining = Field(
        "join",
        .words(Join.self),
        """
        Where to begin: at the last keyframe if that is recent (`cache`), or at the next one (`live`). Default: the \
        session's `join`.
        """
    )
}

/// The query of a session's live HLS. The names that begin with `_HLS` are those of the standard.
package struct LiveQuery: APIModel {
    package var audio = StreamAudio.on
    package var segment: Int?
    package var part: Int?
    package var skip: Skip?

    package init() {}

    package enum Skip: String, Codable, Sendable, CaseIterable {
        case segments = "YES"
        case all = "v2"
    }

    private enum CodingKeys: String, CodingKey {
        case audio
        case segment = "_HLS_msn"
        case part = "_HLS_part"
        case skip = "_HLS_skip"
    }

    package static let schema = Schema.request(
        nil,
        [
            Field(
                "audio",
                .words(StreamAudio.self).default(.string(StreamAudio.on.rawValue)),
                "The codec in which it has the device's sound: `opus` or `aac`; `true` is `opus`, and `false` no sound."
            ),
            Field("_HLS_msn", .integer(0...1 << 52), "The answer waits until it has this segment."),
            Field("_HLS_part", .integer(0...1000), "The answer waits until it has this part of the segment."),
            Field("_HLS_skip", .words(Skip.self), "Whether older segments, which the client has, may be left out."),
        ]
    )
}

/// The sound that a container has besides the pictures.
package enum StreamAudio: String, Codable, Sendable, CaseIterable {
    case on = "true"
    case off = "false"
    case opus, aac
}

/// The query of GET /screencapture/{id}/ws.
package struct WebSocketQuery: APIModel {
    package var join: Join?
    package var container: String?
    package var audio = false

    package init() {}

    package static let schema = Schema.request(
        nil,
        [
            StreamQuery.joining,
            Field(
                "container",
                .constant("mp4"),
                "`mp4`: pictures are fragments of MP4. Default: pictures are Annex B."
            ),
            Field(
                "audio",
                .bool.default(false),
                "Whether the fragments of MP4 include the device's sound. Without a container, a message asks for sound."
            ),
        ]
    )
}
