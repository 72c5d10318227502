package import Media
package import Wire

/// The body of POST /screencapture/broadcast/start.
package struct BroadcastStart: APIModel {
    package var device: String?
    package var timeout: Double?
    package var source: SourceRequest?
    package var ttl: Int?

    package init() {}

    package static let schema = Schema.request(
        "BroadcastStart",
        [
            Field("device", .device),
            Field(
                "timeout",
                .number(0.1...3600),
                """
                How long the start may take, s. Default: 15, and while the desktop's dialog waits for a person's answer, \
                no limit.
                """
            ),
            Field("source", SourceRequest.schema),
            Field(
                "ttl",
                .lifetime,
                """
                Seconds without a session after which the broadcast ends itself. Default: never. Of several starts the \
                longest counts.
                """
            ),
        ]
    )
}

/// The arguments of POST /v1/devices/{device}/broadcast/stop.
package struct BroadcastStop: APIModel {
    package var device: String?
    package var keepScreenshots = false

    package init() {}

    package static let schema = Schema.request(
        "BroadcastStop",
        [
            Field("device", .device),
            Field(
                "keepScreenshots",
                .bool.default(false),
                """
                Whether the standby stays and feeds the sessions with its screenshots, until the next start or stop. \
                Does nothing if the device has no fallback.
                """
            ),
        ]
    )
}

/// The source of a broadcast.
package struct SourceRequest: APIModel, Equatable {
    package var kind = SourceKind.auto
    package var content: ScreenContent?
    package var cursor: CursorDrawing?
    /// The monitor's connector, if the source names monitors.
    package var output: String?
    /// The PipeWire node's name, serial or id.
    package var node: String?
    package var width: Int?
    package var height: Int?
    /// The test pattern's frames per second.
    package var fps: Int?

    package init() {}

    package init(kind: SourceKind, size: PictureSize? = nil, fps: Int? = nil) {
        self.kind = kind
        (width, height) = (size?.width, size?.height)
        self.fps = fps
    }

    /// The size of the test pattern, or of a virtual monitor that Mutter creates.
    package var size: PictureSize? {
        guard let width, let height else { return nil }
        return PictureSize(width: width, height: height)
    }

    package static let schema = Schema(
        .variants([
            variant(
                .auto,
                """
                `mutter` if Mutter is the compositor; else `portal`, if a person can answer it; else `screenshot`.
                """,
                [cursor, content]
            ),
            variant(.portal, "A monitor or a window, by xdg-desktop-portal.", [cursor, content]),
            variant(
                .mutter,
                "A monitor of GNOME's compositor: that of this connector, else the first one.",
                [cursor, monitor, Field("output", name, "The monitor's connector, such as `DP-1`.")]
            ),
            variant(
                .mutter,
                "A monitor of this size that exists as long as it is captured.",
                [cursor, monitor] + sides
            ),
            variant(
                .mutter,
                "The window that has the input focus.",
                [cursor, Field("content", .constant("window"), isRequired: true)]
            ),
            variant(
                .node,
                "A PipeWire video node.",
                [Field("node", name, "Its name, serial or id, looked for in this order.", isRequired: true)]
            ),
            variant(
                .screenshot,
                "A monitor, by one screenshot after the other.",
                [cursor, Field("output", name, "The monitor's name.")]
            ),
            variant(.testPattern, "A synthetic screen.", [rate]),
            variant(.testPattern, "A synthetic screen of this size.", sides + [rate]),
        ]),
        named: "SourceRequest",
        "What to capture. Its kind decides which other fields there are. Default: the device's own source."
    )

    private static func variant(_ kind: SourceKind, _ summary: String, _ fields: [Field]) -> Schema {
        let kind = Field("kind", .constant(.string(kind.rawValue)), isRequired: true)
        return .request(nil, summary, [kind] + fields)
    }

    private static let name = Schema.string(0...200)
    private static let content = Field(
        "content",
        Schema(
            Schema.words(ScreenContent.self).form,
            named: "Content",
            "Which part of the desktop.",
            default: "monitor"
        )
    )
    private static let monitor = Field("content", .constant("monitor"))
    private static let cursor = Field(
        "cursor",
        Schema(
            Schema.words(CursorDrawing.self).form,
            named: "Cursor",
            "Whether the pointer is in the picture.",
            default: "embedded"
        )
    )
    private static let sides = ["width", "height"].map { name in
        Field(name, Schema(.integer([16...8192]), named: "SourceSide", "Pixels."), isRequired: true)
    }
    private static let rate = Field("fps", .integer(1...240), "Frames per second.")
}
