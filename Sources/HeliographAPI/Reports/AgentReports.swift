import Media

/// An agent's process.
package struct AgentReport: APIModel {
    package var pid: Int32 = 0
    package var release = ""
    package var source = ""
    package var managed = false

    package init() {}

    package static let schema = Schema.report(
        "Agent",
        [
            Field("pid", .anyInteger, "Its process."), Field("release", .text),
            Field("source", .text, "The kind of its source."),
            Field("managed", .bool, "Whether the relay started it."),
        ]
    )
}

/// The source that an agent captures.
package struct SourceReport: APIModel {
    package var kind = ""
    package var state: String?
    package var cause: String?
    package var detail: String?
    package var width: Int?
    package var height: Int?
    package var orientation: UInt8?

    package init() {}

    package static let schema = Schema.report(
        "Source",
        [
            Field("kind", .text, "What `auto` and `screenshot` have become, once that is known."),
            Field("state", .words("opening", "streaming", "paused", "lost").orNull, "Null without an agent."),
            Field("cause", .text.orNull, "Why it is paused or lost, a stable code."),
            Field("detail", .text.orNull, "The same for people."),
            Field("width", .anyInteger.orNull, "Pixels."), Field("height", .anyInteger.orNull, "Pixels."),
            Field("orientation", .turns.orNull, "Clockwise quarter turns that make the picture upright."),
        ]
    )
}

/// An encoder that an agent has tried.
package struct TriedEncoder: APIModel {
    package var name = ""
    package var codec = ""
    package var available = false
    package var reason: String?

    package init() {}

    package static let schema = Schema.report(
        "Encoder",
        [
            Field("name", .text), Field("codec", .words(Codec.self)), Field("available", .bool),
            Field("reason", .text.orNull, "Why not, for people."),
        ]
    )
}

/// An agent's last heartbeat.
package struct HeartbeatReport: APIModel {
    package var ageMs = 0.0
    package var framesReceived: UInt64 = 0
    package var buffersSkipped: UInt64 = 0
    package var framesCopied: UInt64 = 0
    package var linkQueuedBytes: Int = 0
    package var rates = Rates()
    package var sessions: [Session] = []

    package init() {}

    package static let schema = Schema.report(
        "Heartbeat",
        [
            Field("ageMs", .figure, "ms."), Field("framesReceived", .count, "From the source."),
            Field("buffersSkipped", .count, "Empty or corrupted buffers."),
            Field("framesCopied", .count, "Instead of lent."),
            Field("linkQueuedBytes", .count, "Bytes that wait for the link."),
            Field("rates", Rates.schema), Field("sessions", .array(of: Session.schema)),
        ]
    )

    /// The rates between the agent's last two heartbeats.
    package struct Rates: APIModel {
        package var framesReceived: Double?

        package init() {}

        package static let schema = Schema.report(
            nil,
            [Field("framesReceived", .figure.orNull, "Per second; null before the second heartbeat.")]
        )
    }

    package struct Session: APIModel {
        package var id: UInt32 = 0
        package var encoder: String?
        package var encoderReason: String?
        package var encoderRestarts: UInt64 = 0
        package var counters = AgentCounters()
        package var rates: RatesReport?

        package init() {}

        package static let schema = Schema.report(
            nil,
            [
                Field("id", .count(from: 1)), Field("encoder", .text.orNull, "Null until it is open."),
                Field("encoderReason", .text.orNull, "As in the session."),
                Field("encoderRestarts", .count, "As in the session."), Field("counters", AgentCounters.schema),
                Field("rates", RatesReport.schema.orNull, "As in the session."),
            ]
        )
    }
}

/// An agent's connection.
package struct LinkReport: APIModel {
    package var connected = false
    package var bytes: Int?
    package var lastByteMsAgo: Double?
    package var reconnects = 0

    package init() {}

    package static let schema = Schema.report(
        "Link",
        [
            Field("connected", .bool), Field("bytes", .anyInteger.orNull, "Received; null without a link."),
            Field("lastByteMsAgo", .figure.orNull, "ms."), Field("reconnects", .count, "Since the relay started."),
        ]
    )
}

/// How an agent's process ended.
package struct ExitReport: APIModel {
    package var exitStatus: Int?
    package var signal: Int?
    package var lastLine: String?
    package var text = ""

    package init() {}

    package static let schema = Schema.report(
        "Exit",
        [
            Field("exitStatus", .anyInteger.orNull, "Null if a signal ended it."),
            Field("signal", .anyInteger.orNull, "The signal's number."),
            Field("lastLine", .text.orNull, "The last line that it wrote."),
            Field("text", .text, "All of that for people."),
        ]
    )
}
