import Media

/// A broadcast with all its figures: the answer of GET /screencapture/broadcast.
package struct BroadcastReport: APIModel {
    package var device = ""
    package var state = ""
    package var since = ""
    package var ttl: Int?
    package var agent: AgentReport?
    package var source = SourceReport()
    package var input: InputDevicesReport?
    package var controller: String?
    package var audio: AudioReport?
    package var microphone: MicrophoneReport?
    package var encoders: [TriedEncoder]?
    package var heartbeat: HeartbeatReport?
    package var link = LinkReport()
    package var restarts = 0
    package var lastExit: ExitReport?
    package var standby: StandbyReport?
    package var tls: CertificateReport?
    package var sessions: [SessionReport] = []

    package init() {}

    package static let schema = Schema.report(
        "Broadcast",
        [
            Field("device", .text), Field("state", .broadcastState), Field("since", .date, "Of this state."),
            Field("ttl", .anyInteger.orNull, "Seconds without a session after which it ends itself; null for never."),
            Field("agent", AgentReport.schema.orNull, "Null while none is linked."),
            Field("source", SourceReport.schema),
            Field(
                "input",
                InputDevicesReport.schema.orNull,
                "How the agent can act on the screen; null until it reports that."
            ),
            Field(
                "controller",
                .text.orNull,
                "The caller that acts on the screen: a key's name, or `local` without keys; null for none in the last 5 s."
            ),
            Field("audio", AudioReport.schema.orNull, "Its sound; null unless the device's `audio` is on."),
            Field("microphone", MicrophoneReport.schema.orNull, "Null unless the device's `microphone` is on."),
            Field(
                "encoders",
                .array(of: TriedEncoder.schema).orNull,
                "The encoders that the agent has tried so far; null until it reports the first."
            ),
            Field("heartbeat", HeartbeatReport.schema.orNull, "Null before the first."),
            Field("link", LinkReport.schema),
            Field("restarts", .count, "How often the agent was restarted since the broadcast's start."),
            Field("lastExit", ExitReport.schema.orNull, "How the last agent process ended."),
            Field("standby", StandbyReport.schema.orNull, "Null if none runs."),
            Field("tls", CertificateReport.schema.orNull, "Null if nothing is encrypted."),
            Field("sessions", .array(of: SessionReport.schema)),
        ]
    )
}

/// The agent that feeds sessions when the broadcast's agent does not.
package struct StandbyReport: APIModel {
    package var state = ""
    package var since = ""
    package var agent: AgentReport?
    package var source = SourceReport()
    package var heartbeat: HeartbeatReport?
    package var link = LinkReport()
    package var restarts = 0
    package var lastExit: ExitReport?

    package init() {}

    package static let schema = Schema.report(
        "Standby",
        "The agent that feeds sessions while the broadcast's does not.",
        [
            Field("state", .broadcastState), Field("since", .date, "Of this state."),
            Field("agent", AgentReport.schema.orNull, "Null while none is linked."),
            Field("source", SourceReport.schema),
            Field("heartbeat", HeartbeatReport.schema.orNull, "Null before the first."),
            Field("link", LinkReport.schema),
            Field("restarts", .count, "Since the broadcast's start."),
            Field("lastExit", ExitReport.schema.orNull, "How its last process ended."),
        ]
    )
}

/// A broadcast in a list.
package struct BroadcastSummary: APIModel {
    package var device = ""
    package var state = ""
    package var since = ""
    package var labels: [String: String] = [:]
    package var autostart = false
    package var source = SourceReport()
    package var restarts = 0
    package var sessions = 0
    package var viewers = 0

    package init() {}

    package static let schema = Schema.report(
        "BroadcastSummary",
        [
            Field("device", .text), Field("state", .broadcastState), Field("since", .date, "Of this state."),
            Field("labels", .dictionary(of: .text), "Texts by name, from the configuration."),
            Field("autostart", .bool, "Whether the relay starts it by itself."),
            Field("source", SourceReport.schema),
            Field("restarts", .count, "How often the agent was restarted since the broadcast's start."),
            Field("sessions", .count, "The device's sessions."),
            Field("viewers", .count, "The viewers of all its sessions."),
        ]
    )
}

/// The broadcasts of all devices.
package struct BroadcastList: APIModel {
    package var broadcasts: [BroadcastSummary] = []

    package init() {}
    package init(_ broadcasts: [BroadcastSummary]) { self.broadcasts = broadcasts }

    package static let schema = Schema.report(
        "BroadcastList",
        [Field("broadcasts", .array(of: BroadcastSummary.schema), "In the order of their devices' names.")]
    )
}

/// The answer to a broadcast's start.
package struct StartedBroadcast: APIModel {
    package var device = ""
    package var state = ""
    package var agent: AgentReport?
    package var source = SourceReport()
    package var timings: Timings?
    package var alreadyRunning = false

    package init() {}

    package static let schema = Schema.report(
        "StartedBroadcast",
        [
            Field("device", .text), Field("state", .broadcastState),
            Field("agent", AgentReport.schema.orNull, "Null if it has gone since."),
            Field("source", SourceReport.schema),
            Field("timings", Timings.schema.orNull, "Null if the broadcast was live."),
            Field("alreadyRunning", .bool),
        ]
    )

    package struct Timings: APIModel {
        package var spawnMs: Double?
        package var helloMs: Double?
        package var sourceMs: Double?
        package var totalMs: Double?
        package var agent: [String: Double] = [:]

        package init() {}

        package static let schema = Schema.report(
            "StartTimings",
            [
                Field(
                    "spawnMs",
                    .figure.orNull,
                    "From the call to the running process, ms; null if none had to be started."
                ),
                Field("helloMs", .figure.orNull, "To HELLO, ms."),
                Field("sourceMs", .figure.orNull, "To the streaming source, ms."),
                Field("totalMs", .figure.orNull, "In all, ms."),
                Field("agent", .dictionary(of: .figure), "The agent's own stages, ms."),
            ]
        )
    }
}

/// The answer to a broadcast's stop.
package struct StoppedBroadcast: APIModel {
    package var device = ""
    package var state = ""
    package var wasRunning = false
    package var screenshots = false

    package init() {}

    package static let schema = Schema.report(
        "StoppedBroadcast",
        [
            Field("device", .text), Field("state", .broadcastState), Field("wasRunning", .bool),
            Field("screenshots", .bool, "Whether the standby's screenshots feed the sessions from now on."),
        ]
    )
}

extension Schema {
    static let broadcastState = Schema(
        Schema.words("idle", "starting", "live", "away", "stopping").form,
        named: "BroadcastState",
        "`away`: the agent is expected back."
    )
}
