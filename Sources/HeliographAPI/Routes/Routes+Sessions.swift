extension Routes {
    static let sessions = [
        startSession.route, listSessions.route, stopSessions.route, getSession.route, changeSession.route,
        requestKeyframe.route, stopSession.route,
    ]

    package static let startSession = Call<SessionStart, SessionReport>(
        "startSession",
        .post,
        "/v1/sessions",
        alias: "/screencapture/start",
        for: .operator,
        .sessions,
        "Starts a session.",
        "Pictures come when the device's broadcast does.",
        status: 201,
        answer: "The session."
    ) {
        $0.needsDevice = true
        $0.ownProblems = [
            .init([.portInUse], "The port is taken."),
            .init(
                [.tooManySessions, .noFreePort, .draining, .shuttingDown],
                "The device has its most sessions, no port is free, or the relay drains or shuts down."
            ),
        ]
        $0.links = [
            .init(name: "session", route: "getSession", summary: "Read its state."),
            .init(name: "change", route: "changeSession", summary: "Change it while it runs."),
            .init(name: "keyframe", route: "requestKeyframe", summary: "Ask for a keyframe."),
            .init(name: "snapshot", route: "takeJPEG", summary: "Take a picture of it."),
            .init(name: "wait", route: "waitForScreen", summary: "Wait until its screen changes or is static."),
            .init(name: "stop", route: "stopSession", summary: "End it."),
        ]
    }

    package static let listSessions = Call<NoArguments, SessionList>(
        "listSessions",
        .get,
        "/v1/sessions",
        alias: "/screencapture",
        for: .viewer,
        .sessions,
        "Lists all sessions.",
        answer: "The sessions."
    )

    package static let stopSessions = Call<DeviceArgument, StoppedSessions>(
        "stopSessions",
        .post,
        "/v1/sessions/stop",
        alias: "/screencapture/stop",
        for: .operator,
        .sessions,
        "Ends all sessions, or a device's.",
        "Without `device`, in the query or the body, it ends those of all devices.",
        arguments: .queryOrBody,
        answer: "They have ended."
    )

    package static let getSession = Call<NoArguments, SessionReport>(
        "getSession",
        .get,
        "/v1/sessions/{id}",
        alias: "/screencapture/{id}",
        for: .viewer,
        .sessions,
        "Returns one session.",
        answer: "The session."
    )

    package static let changeSession = Call<SessionChange, SessionReport>(
        "changeSession",
        .patch,
        "/v1/sessions/{id}",
        alias: "/screencapture/{id}",
        for: .operator,
        .sessions,
        "Changes a session while it runs; its viewers stay.",
        answer: "The session."
    )

    package static let requestKeyframe = Call<NoArguments, KeyframeRequested>(
        "requestKeyframe",
        .post,
        "/v1/sessions/{id}/keyframe",
        alias: "/screencapture/{id}/keyframe",
        for: .operator,
        .sessions,
        "Asks the encoder for a keyframe now.",
        status: 202,
        answer: "The relay has asked for it."
    ) { $0.ownProblems = [.init([.noSource], "No agent feeds the session.")] }

    package static let stopSession = Call<NoArguments, StoppedSession>(
        "stopSession",
        .post,
        "/v1/sessions/{id}/stop",
        alias: "/screencapture/{id}/stop",
        for: .operator,
        .sessions,
        "Ends a session, and its viewers' streams.",
        answer: "It has ended."
    )
}
