import Media

/// A session as the relay shows it.
///
/// As in all reports, the schema explains the fields. Enumerations are strings, so that a client accepts words of later
/// releases.
package struct SessionReport: APIModel {
    package var id: UInt32 = 0
    package var device = ""
    package var name: String?
    package var state = ""
    package var label: String?
    package var codec = ""
    package var chroma = ""
    package var framing = ""
    package var requestedEncoder = ""
    package var width: Int?
    package var height: Int?
    package var maxPixels: Int?
    package var fps = 0
    package var bitrate = 0
    package var adapt = ""
    package var minBitrate: Int?
    package var target: Target?
    package var `repeat` = false
    package var onDemand = false
    package var record = false
    package var recordWhen = ""
    package var join = ""
    package var keyframeInterval = 0.0
    package var staticKeyframeInterval = 0.0
    package var port = 0
    package var audioPort: Int?
    package var ttl: Int?
    package var viewers = 0
    package var encoder: String?
    package var encoderReason: String?
    package var repeatRefusal: String?
    package var encoderRestarts: UInt64?
    package var orientation: UInt8?
    package var sourceWidth: Int?
    package var sourceHeight: Int?
    package var feed = ""
    package var asleep = false
    package var stale = false
    package var staleSince: String?
    package var switches = 0
    package var switchCauses: [String: Int] = [:]
    package var lastSwitchGapMs: Double?
    package var createdAt = ""
    package var error: String?
    package var recording: RecordingReport?
    package var counters = Counters()
    package var rates: RatesReport?
    package var latency = Latency()

    package init() {}

    package struct Counters: APIModel {
        package var agent: AgentCounters?
        package var relay = RelayCounters()

        package init() {}

        package static let schema = Schema.report(
            nil,
            [
                Field("agent", AgentCounters.schema.orNull, "From the last heartbeat; null without an agent."),
                Field("relay", RelayCounters.schema),
            ]
        )
    }

    /// What the encoder makes of the settings, because viewers' connections do not carry them.
    package struct Target: APIModel {
        package var bitrate = 0
        package var fps = 0
        package var maxPixels: Int?
        package var followed = 0
        package var smallSession: UInt32?

        package init() {}

        package static let schema = Schema.report(
            "Target",
            [
                Field("bitrate", .integer(SessionRequest.bitrates), "The most that it may take, bit/s."),
                Field("fps", .integer(1...240), "Pictures per second."),
                Field("maxPixels", .anyInteger.orNull, "Bound of width times height; null for none."),
                Field("followed", .count, "Viewers that acknowledge pictures; with none, nothing is left out."),
                Field(
                    "smallSession",
                    .anyInteger.orNull,
                    """
                    The id of the session with smaller pictures that viewers get whose connections carry less than half; null \
                    if there is none.
                    """
                ),
            ]
        )
    }

    /// The stages of a picture's latency.
    package struct Latency: APIModel {
        package var wait: PercentilesReport?
        package var encode: PercentilesReport?
        package var link: PercentilesReport?
        package var captureToRelay: PercentilesReport?
        package var handover: PercentilesReport?
        package var captureToPresentation: PercentilesReport?

        package init() {}

        package static let schema = Schema.report(
            nil,
            [
                stage("wait", "From the capture to the start of the encoding."),
                stage("encode", "From there to the end of the encoding."),
                stage("link", "From there to the arrival in the relay."),
                stage("captureToRelay", "From the capture to the arrival in the relay."),
                stage("handover", "From there until the viewer's connection has taken it."),
                stage(
                    "captureToPresentation",
                    "From the capture to the time at which a viewer says that it presented it."
                ),
            ]
        )

        private static func stage(_ name: String, _ summary: String) -> Field {
            Field(name, PercentilesReport.schema.orNull, summary)
        }
    }
}

extension SessionReport {
    package static let schema = Schema.report(
        "Session",
        "All fields are present, null if there is nothing to say.",
        fields
    )

    private static let fields = request + agent + feed + figures

    private static let request = [
        Field("id", .count(from: 1), "Counted from 1."),
        Field("device", .text, "The device whose screen it shows."),
        Field(
            "name",
            .text.orNull,
            "Its name in the device's address; null for a session that was started without one."
        ),
        Field("state", .sessionState),
        Field("label", .text.orNull, "As in the request."),
        Field("codec", .words(Codec.self)),
        Field("chroma", .words(ChromaSampling.self)),
        Field("framing", .words(Framing.self), "The framing on its TCP port."),
        Field("requestedEncoder", .text, "The `encoder` of the request."),
        Field(
            "width",
            .anyInteger.orNull,
            "Pixels: those of the encoded picture once there is one, before that those of the request."
        ),
        Field("height", .anyInteger.orNull, "Pixels, as `width`."),
        Field("maxPixels", .anyInteger.orNull, "Pixels; null for no bound."),
        Field("fps", .integer(1...240), "Pictures per second."),
        Field("bitrate", .integer(SessionRequest.bitrates), "bit/s."),
        Field("adapt", .words(Adaptation.self), "Which viewers the bitrate follows."),
        Field("minBitrate", .anyInteger.orNull, "bit/s, as in the request."),
        Field("target", Target.schema.orNull, "What is encoded now, if `adapt` is not `fixed`."),
        Field("repeat", .bool),
        Field("onDemand", .bool), Field("record", .bool), Field("recordWhen", .words(RecordWhen.self)),
        Field("join", .words(Join.self)),
        Field("keyframeInterval", .figure, "s."),
        Field("staticKeyframeInterval", .figure, "s."),
        Field("port", .integer(1...65535), "TCP."),
        Field(
            "audioPort",
            .integer(1...65535).orNull,
            "TCP, of the device's sound; null unless `framing` is `scrcpy` and the device's `audio` is on."
        ),
        Field("ttl", .anyInteger.orNull, "s."),
        Field("viewers", .count, "Viewers now."),
    ]

    private static let agent = [
        Field("encoder", .text.orNull, "The name of the encoder in use; null until it is open."),
        Field("encoderReason", .text.orNull, "Why `auto` encodes in software, for people; null if it does not."),
        Field("repeatRefusal", .text.orNull, "Why all repeats are encoded, for people; null if they are not."),
        Field(
            "encoderRestarts",
            .anyInteger.orNull,
            "Encoders that failed in mid-stream and were replaced; null without a heartbeat."
        ),
        Field(
            "orientation",
            .turns.orNull,
            "Clockwise quarter turns that a player applies; null before the first picture."
        ),
        Field("sourceWidth", .anyInteger.orNull, "Pixels of the desktop's picture; null until they are known."),
        Field("sourceHeight", .anyInteger.orNull, "As `sourceWidth`."),
    ]

    private static let feed = [
        Field("feed", .feed),
        Field("asleep", .bool, "Whether nobody wants pictures of a session that encodes on demand."),
        Field("stale", .bool, "Whether viewers saw pictures and `feed` is `none` now."),
        Field("staleSince", .date.orNull, "Since when."),
        Field("switches", .count, "How often pictures came from another agent than before."),
        Field("switchCauses", switchCauses, "The same by cause; causes that did not occur are absent."),
        Field(
            "lastSwitchGapMs",
            .figure.orNull,
            "From the last picture before the last switch to the first one after it, ms."
        ),
    ]

    private static let switchCauses = Schema.request(
        nil,
        [
            "link_closed", "link_silent", "link_failed", "displaced", "source_paused", "source_lost", "no_pictures",
            "returned",
        ].map { Field($0, .tally) }
    )

    private static let figures = [
        Field("createdAt", .date, "When it was started."),
        Field("error", .text.orNull, "Why the agent cannot serve it; null if it can."),
        Field("recording", RecordingReport.schema.orNull, "Null if it is not recorded."),
        Field("counters", Counters.schema),
        Field("rates", RatesReport.schema.orNull, "Null until the session was in two heartbeats."),
        Field("latency", Latency.schema, "Stages of the last 10 to 20 s; null if there were none."),
    ]
}

extension Schema {
    /// The schema of the source of a session's pictures.
    package static let feed = Schema(
        Schema.words("primary", "standby", "none").form,
        named: "Feed",
        "Whose pictures they are: those of the broadcast's agent (`primary`), of its `standby`, or nobody's."
    )

    /// The schema of a session's state, in one word.
    package static let sessionState = Schema(
        Schema.words("live", "waiting", "asleep", "stale").form,
        named: "SessionState",
        """
        An agent whose source delivers feeds it (`live`); none has yet (`waiting`); nobody wants pictures (`asleep`); \
        viewers see a picture that no longer shows the screen (`stale`).
        """
    )

    /// The schema of clockwise quarter turns.
    static let turns = Schema.integer(0...3)
}

/// A session in a brief list.
package struct BriefSession: APIModel {
    package var id: UInt32 = 0
    package var device = ""
    package var name: String?
    package var label: String?
    package var state = ""
    package var viewers = 0
    package var port = 0

    package init() {}

    package static let schema = Schema.report(
        "BriefSession",
        "The fields of a session that tell which one it is, and how it is doing.",
        ["id", "device", "name", "label", "state", "viewers", "port"].compactMap { name in
            SessionReport.schema.fields.first { $0.name == name }
        }
    )
}

/// A list of sessions in brief.
package struct BriefSessionList: APIModel {
    package var sessions: [BriefSession] = []

    package init() {}
    package init(_ sessions: [BriefSession]) { self.sessions = sessions }

    package static let schema = SessionList.schema
}

/// All sessions.
package struct SessionList: APIModel {
    package var sessions: [SessionReport] = []

    package init() {}
    package init(_ sessions: [SessionReport]) { self.sessions = sessions }

    package static let schema = Schema.report(
        "SessionList",
        [
            Field(
                "sessions",
                .array(of: Schema(.variants([SessionReport.schema, BriefSession.schema]))),
                "In the order of their ids."
            )
        ]
    )
}
