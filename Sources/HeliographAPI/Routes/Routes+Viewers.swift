extension Routes {
    static let viewers = [
        streamH264.route, streamH265.route, streamTS.route, streamMP4.route, streamOgg.route, streamAAC.route,
        watchLive.route, getLiveFile.route, streamMJPEG.route, takeJPEG.route, takePNG.route, watchOverWebSocket.route,
    ]

    package static let streamH264 = stream(
        "streamH264",
        "h264",
        "video/h264",
        "Watches an H.264 session as a bare Annex B stream."
    ) { $0.ownProblems.append(.noSuchStream) }

    package static let streamH265 = stream(
        "streamH265",
        "h265",
        "video/h265",
        "Watches an H.265 session as a bare Annex B stream."
    ) { $0.ownProblems.append(.noSuchStream) }

    package static let streamTS = stream(
        "streamTS",
        "ts",
        "video/mp2t",
        "Watches a session as an MPEG transport stream."
    ) { $0.ownProblems.append(.noAAC) }

    package static let streamMP4 = stream(
        "streamMP4",
        "mp4",
        "video/mp4",
        "Watches a session as fragmented MP4, one fragment a picture."
    ) { $0.ownProblems.append(.noAAC) }

    private static func stream(
        _ name: String,
        _ end: String,
        _ type: String,
        _ summary: String,
        adjust: (inout Route) -> Void = { _ in }
    ) -> Call<StreamQuery, Bytes> {
        Call(
            name,
            "/v1/sessions/{id}/stream.\(end)",
            alias: "/screencapture/{id}/stream.\(end)",
            for: .viewer,
            .viewers,
            summary,
            """
            It begins with parameter sets and a keyframe and lasts until the session or the client ends it; the connection \
            ends with it. If a viewer stays behind for too long, the relay cuts the response off.
            """,
            answer: .stream(type)
        ) {
            $0.refusesBody = true
            $0.isOfDevice = true
            $0.ownProblems = [.noRoom]
            adjust(&$0)
        }
    }

    package static let watchLive = Call<LiveQuery, Bytes>(
        "watchLive",
        "/v1/sessions/{id}/live.m3u8",
        for: .viewer,
        .viewers,
        "Watches a session as low-latency HLS: the playlist, for players.",
        """
        It has the last minute, in segments of whole groups of pictures and in parts of about 200 ms. The first call starts \
        it, and waits for the first segment. It ends 30 s after the last call.
        """,
        arguments: .query,
        answer: .stream("application/vnd.apple.mpegurl", "The playlist.")
    ) {
        $0.isOfDevice = true
        $0.ownProblems = [
            .noAAC, .init([.outOfRange], "The segment is far in the future."),
            .init([.waitTimeout], "No picture has come in time."),
        ]
    }

    package static let getLiveFile = Call<NoArguments, Bytes>(
        "getLiveFile",
        "/v1/sessions/{id}/live/{run}/{part}",
        for: .viewer,
        .viewers,
        "Returns a segment, a part or an initialization segment of a session's live HLS, whose address the playlist has.",
        "The answer waits for a part that comes next.",
        answer: .stream("video/mp4", "Fragments of MP4.")
    ) {
        $0.isOfDevice = true
        $0.ownProblems = [
            .init([.unknownSegment], "It is gone, or does not come."),
            .init([.forbiddenLibrary], "Only the recording has it, and the caller may not look at recordings."),
            noLibrary,
        ]
    }

    package static let streamOgg = sound(
        "streamOgg",
        "ogg",
        "audio/ogg",
        "Listens to the device's sound alone, as Opus in Ogg.",
        .init([.noSound], "The device's `audio` is off.")
    )

    package static let streamAAC = sound(
        "streamAAC",
        "aac",
        "audio/aac",
        "Listens to the device's sound alone, as AAC-LC in ADTS.",
        .init([.noSound, .noAAC], "The device's `audio` is off, or its agent cannot encode AAC: `detail` says why.")
    )

    private static func sound(
        _ name: String,
        _ end: String,
        _ type: String,
        _ summary: String,
        _ problem: ProblemAnswer
    ) -> Call<NoArguments, Bytes> {
        Call(
            name,
            "/v1/sessions/{id}/stream.\(end)",
            alias: "/screencapture/{id}/stream.\(end)",
            for: .viewer,
            .viewers,
            summary,
            """
            It lasts until the session or the client ends it; the connection ends with it. No picture is encoded for it. \
            While nothing plays, it has silence.
            """,
            answer: .stream(type)
        ) {
            $0.refusesBody = true
            $0.isOfDevice = true
            $0.ownProblems = [.noRoom, problem]
        }
    }

    package static let streamMJPEG = Call<MotionJPEGQuery, Bytes>(
        "streamMJPEG",
        "/v1/sessions/{id}/stream.mjpeg",
        alias: "/screencapture/{id}/stream.mjpeg",
        for: .viewer,
        .viewers,
        "Watches a session as a series of JPEG pictures.",
        "It lasts until the session or the client ends it; the connection ends with it.",
        answer: .stream("multipart/x-mixed-replace", "The parts, each with the header fields of a snapshot.")
    ) {
        $0.refusesBody = true
        $0.isOfDevice = true
        $0.isEmbeddable = true
        $0.ownProblems = [.noRoom]
    }

    package static let takeJPEG = snapshot("takeJPEG", "jpg", "image/jpeg", "Takes a picture of the screen as JPEG.")
    package static let takePNG = snapshot("takePNG", "png", "image/png", "Takes a picture of the screen as PNG.")

    private static func snapshot(_ name: String, _ end: String, _ type: String, _ summary: String)
        -> Call<SnapshotQuery, Bytes>
    {
        Call(
            name,
            "/v1/sessions/{id}/snapshot.\(end)",
            alias: "/screencapture/{id}/snapshot.\(end)",
            for: .viewer,
            .viewers,
            summary,
            answer: Route.Answer(
                description: "The picture.",
                contents: [(type, .bytes)],
                headers: [
                    Field("Heliograph-Captured", .date, "When the frame was captured.", isRequired: true),
                    Field(
                        "Heliograph-PTS",
                        .anyInteger,
                        "The same on the session's clock, µs; may be negative.",
                        isRequired: true
                    ),
                    Field(
                        "Heliograph-Orientation",
                        .turns,
                        "Clockwise quarter turns that make the picture upright.",
                        isRequired: true
                    ),
                    Field(
                        "Heliograph-Geometry",
                        .integer(0...Int(UInt32.max)),
                        "What the picture's coordinates mean, for the `geometry` of actions; 0 if unknown.",
                        isRequired: true
                    ),
                ]
            )
        ) {
            $0.isEmbeddable = true
            $0.isOfDevice = true
            $0.ownProblems = [
                .init(
                    [.noPicture, .tooManyViewers],
                    "There is no picture, or as many calls wait for one as the session may have viewers.",
                    [Field("cause", noPictureCauses, "Of `no_picture`.")]
                ),
                .init([.snapshotTimeout], "The agent made no picture within 5 s."),
            ]
        }
    }

    private static let noPictureCauses = Schema.words(
        "no_source",
        "source_lost",
        "no_frame",
        "dma_buf",
        "too_large",
        "busy",
        "failed",
        "unknown_session"
    )

    package static let watchOverWebSocket = Call<WebSocketQuery, Bytes>(
        "watchOverWebSocket",
        "/v1/sessions/{id}/ws",
        alias: "/screencapture/{id}/ws",
        for: .viewer,
        .viewers,
        "Watches a session over a WebSocket (RFC 6455, version 13).",
        """
        The upgrade must be the connection's first request, with the header fields of RFC 6455, section 4.1. \
        docs/reference/websocket.md describes the messages.
        """,
        answer: .webSocket
    ) {
        $0.refusesBody = true
        $0.isOfDevice = true
        $0.ownProblems = [.noRoom, .upgradeRequired]
    }
}

extension ProblemAnswer {
    fileprivate static let noSuchStream = Self(
        [.unknownSession, .otherCodec],
        "There is no such session, or it is of the other codec: its stream is at `path`.",
        [Field("path", .text, "Of `other_codec`.")]
    )
    fileprivate static let noAAC = Self(
        [.noAAC],
        "The query asks for AAC, which the device's agent cannot encode: `detail` says why."
    )
}
