extension Routes {
    static let broadcasts = [startBroadcast.route, getBroadcast.route, listBroadcasts.route, stopBroadcast.route]

    package static let startBroadcast = Call<BroadcastStart, StartedBroadcast>(
        "startBroadcast",
        .post,
        "/v1/devices/{device}/broadcast/start",
        alias: "/screencapture/broadcast/start",
        for: .operator,
        .broadcasts,
        "Starts the broadcast and answers when its source streams.",
        "A live broadcast stays as it is. Calls during a start join it.",
        answer: "The broadcast is live."
    ) {
        $0.needsDevice = true
        $0.ownProblems = ProblemAnswer.start
    }

    package static let getBroadcast = Call<DeviceArgument, BroadcastReport>(
        "getBroadcast",
        .get,
        "/v1/devices/{device}/broadcast",
        alias: "/screencapture/broadcast",
        for: .viewer,
        .broadcasts,
        "Returns the broadcast's state and figures.",
        answer: "The broadcast."
    ) { $0.needsDevice = true }

    package static let listBroadcasts = Call<NoArguments, BroadcastList>(
        "listBroadcasts",
        .get,
        "/v1/broadcasts",
        alias: "/screencapture/broadcasts",
        for: .viewer,
        .broadcasts,
        "Lists the broadcasts of all devices, in brief.",
        answer: "The broadcasts."
    ) { $0.isScoped = true }

    package static let stopBroadcast = Call<BroadcastStop, StoppedBroadcast>(
        "stopBroadcast",
        .post,
        "/v1/devices/{device}/broadcast/stop",
        alias: "/screencapture/broadcast/stop",
        for: .operator,
        .broadcasts,
        "Stops the agent and answers when it is gone.",
        arguments: .queryOrBody,
        answer: "The broadcast's agent is gone. Sessions stay, with feed `none` unless the standby stays."
    ) { $0.needsDevice = true }
}

extension ProblemAnswer {
    /// The reasons why a broadcast does not start.
    fileprivate static let start: [ProblemAnswer] = [
        .init(
            [.broadcastRunning, .broadcastStopped],
            "It runs with another source, or was stopped while it started."
        ),
        .init(
            [.agentNotStarted, .agentExited],
            """
            The agent could not be executed, or ended while it started: by itself with `exitStatus`, or by a `signal`.
            """,
            [
                Field("exitStatus", .anyInteger), Field("signal", .anyInteger),
                Field("lastLine", .text.orNull, "The last line that it wrote.", isRequired: true),
            ]
        ),
        .init(
            [.sourceUnavailable, .shuttingDown],
            "The agent runs and cannot capture, or the relay is shutting down.",
            [
                Field("cause", .text.orNull, "Of `source_unavailable`: the agent's stable code."),
                Field(
                    "fallback",
                    .text.orNull,
                    "Of `source_unavailable`: the kind of the source that feeds sessions meanwhile; null for none."
                ),
            ]
        ),
        .init([.agentTimeout], "No agent streamed in time."),
    ]

    /// The reasons why a device's shared session, or the broadcast that it needs, does not start.
    static let startOnDemand =
        [.init([.notBroadcast], "The device is not broadcast, and its source asks a person."), noRoomForSession] + start

    static let noRoomForSession = Self(
        [.tooManySessions, .noFreePort, .draining, .shuttingDown],
        "The device has its most sessions, no port is free, or the relay drains or shuts down."
    )
}
