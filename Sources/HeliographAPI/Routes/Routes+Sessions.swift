extension Routes {
    static let sessions = [
        startSession.route, listSessions.route, listAllSessions.route, stopSessions.route, getSession.route,
        changeSession.route,
        requestKeyframe.route, stopSession.route, putSession.route, deleteSession.route, stopAllSessions.route,
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
            .init([.portInUse, .libraryUnavailable], "The port is taken, or the relay has no library to record into."),
            .noRoomForSession, .mayNotRecord,
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

    package static let putSession = Call<SessionRequest, SessionReport>(
        "putSession",
        .put,
        Route.namedSession,
        for: .operator,
        .sessions,
        "Makes the session of this name what the body says: starts it, or changes it.",
        """
        An absent field means its default, as in a start. What cannot change while a session runs must be as it is: else \
        the answer is `not_changeable`.
        """,
        answer: "There was one, and now it is so."
    ) {
        $0.otherAnswers = [.json(SessionReport.schema, 201, "It has been started.")]
        $0.otherAnswers[0].headers = [Field("Location", .text, "Its address.", isRequired: true)]
        $0.ownProblems = [
            .init(
                [.portInUse, .notChangeable, .libraryUnavailable],
                """
                The port is taken, a field cannot change while the session runs, or the relay has no library to record into.
                """
            ),
            .noRoomForSession, .mayNotRecord,
        ]
    }

    package static let deleteSession = Call<NoArguments, StoppedSessions>(
        "deleteSession",
        .delete,
        Route.namedSession,
        for: .operator,
        .sessions,
        "Ends the session of this name, if there is one.",
        arguments: .query,
        answer: "There is none of this name now."
    )

    package static let listSessions = Call<SessionListQuery, SessionList>(
        "listSessions",
        .get,
        "/v1/sessions",
        for: .viewer,
        .sessions,
        "Lists the sessions, all of them or those that the query selects.",
        answer: "The sessions."
    ) { $0.isScoped = true }

    package static let listAllSessions = Call<NoArguments, SessionList>(
        "listAllSessions",
        .get,
        "/screencapture",
        for: .viewer,
        .sessions,
        "Lists all sessions: `listSessions` without a query.",
        arguments: .query,
        answer: "The sessions."
    ) { $0.isScoped = true }

    /// ``listSessions`` for callers that want a brief list.
    package static var listSessionsInBrief: Call<SessionListQuery, BriefSessionList> { Call(route: listSessions.route) }

    package static let stopSessions = Call<SessionsStop, StoppedSessions>(
        "stopSessions",
        .post,
        "/v1/sessions/stop",
        for: .operator,
        .sessions,
        "Ends a device's sessions, or all.",
        "It needs `device` or `all`, in the query or the body.",
        arguments: .queryOrBody,
        answer: "They have ended."
    ) {
        $0.needsDevice = true
        $0.isScoped = true
    }

    package static let stopAllSessions = Call<DeviceArgument, StoppedSessions>(
        "stopAllSessions",
        .post,
        "/screencapture/stop",
        for: .operator,
        .sessions,
        "Ends all sessions, or a device's: `stopSessions` for callers who need not say `all`.",
        "Without `device`, in the query or the body, it ends those of all devices.",
        arguments: .queryOrBody,
        answer: "They have ended."
    ) { $0.isScoped = true }

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
    ) {
        $0.ownProblems = [.init([.libraryUnavailable], "The relay has no library to record into."), .mayNotRecord]
    }

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

extension ProblemAnswer {
    /// The call changes a session's `record`, for which the role alone is not enough.
    fileprivate static let mayNotRecord = Self(
        [.forbiddenOrigin, .forbiddenRole, .forbiddenDevice, .forbiddenLibrary],
        """
        The call comes from another site's page, its Host is not the relay's, the key is a viewer's or for other devices, \
        or `record` changes and the key may not record.
        """,
        named: "OtherSiteOrRoleOrRecord"
    )
}
