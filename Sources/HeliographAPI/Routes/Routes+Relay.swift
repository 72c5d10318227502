extension Routes {
    static let access = [getCaller.route, logIn.route, logOut.route, listNearbyRelays.route]

    package static let getCaller = Call<NoArguments, CallerReport>(
        "getCaller",
        .get,
        "/v1/auth",
        alias: "/auth",
        for: .viewer,
        .access,
        "Says whose key the call shows.",
        answer: "The caller."
    ) { $0.isScoped = true }

    package static let logIn = Call<Login, CallerReport>(
        "logIn",
        .post,
        "/v1/auth/login",
        alias: "/auth/login",
        for: .anyone,
        .access,
        "Sets a cookie in the browser that stands for a key.",
        answer: "The caller."
    ) {
        $0.answer.headers = [
            Field("Set-Cookie", .text, "`HttpOnly`, `SameSite=Strict`, for 12 hours. Absent if calls need no key.")
        ]
        $0.ownProblems = [.init([.wrongKey], "The key is wrong."), .tooManyFailures]
    }

    package static let logOut = Call<NoArguments, LoggedOut>(
        "logOut",
        .post,
        "/v1/auth/logout",
        alias: "/auth/logout",
        for: .anyone,
        .access,
        "Removes the browser's cookie.",
        answer: "It is gone."
    ) { $0.answer.headers = [Field("Set-Cookie", .text, isRequired: true)] }

    package static let listNearbyRelays = Call<NoArguments, NearbyRelays>(
        "listNearbyRelays",
        .get,
        "/v1/relays",
        for: .operator,
        .access,
        "Lists the relays that announce themselves in the local network. Takes 2 s.",
        answer: "Those that were heard."
    )
}

extension Routes {
    static let monitoring = [
        getLiveness.route, getReadiness.route, getMetrics.route, testSpeed.route, drain.route,
    ]

    package static let getLiveness = Call<NoArguments, Liveness>(
        "getLiveness",
        .get,
        "/livez",
        for: .anyone,
        .monitoring,
        "Answers as long as the relay does.",
        arguments: .nowhere,
        answer: "It does."
    )

    package static let getReadiness = Call<NoArguments, ReadinessReport>(
        "getReadiness",
        .get,
        "/readyz",
        for: .anyone,
        .monitoring,
        "Says whether the relay takes sessions and every running broadcast has a picture.",
        arguments: .nowhere,
        answer: "It is ready."
    ) {
        $0.ownProblems = [
            .init(
                [.notReady],
                "It is not.",
                [
                    Field("draining", .bool, "Whether the relay drains.", isRequired: true),
                    Field("devices", ReadinessReport.devicesSchema, isRequired: true),
                ]
            )
        ]
    }

    package static let getMetrics = Call<NoArguments, Bytes>(
        "getMetrics",
        "/metrics",
        for: .viewer,
        .monitoring,
        "Returns the metrics in Prometheus' text format.",
        arguments: .nowhere,
        answer: Route.Answer(description: "The metrics.", contents: [("text/plain", .text)])
    )

    package static let testSpeed = Call<SpeedTestQuery, Bytes>(
        "testSpeed",
        "/v1/speedtest",
        for: .viewer,
        .monitoring,
        "Sends bytes without a meaning as fast as they are taken, so that the caller can measure how fast they come.",
        "It ends after the time that the caller names, or after 256 MiB. There is one test at a time.",
        answer: .stream("application/octet-stream", "The bytes, which cannot be compressed.")
    ) {
        $0.isScoped = true
        $0.ownProblems = [ProblemAnswer([.speedTestRunning], "Another test runs.")]
    }

    package static let drain = Call<DrainRequest, Draining>(
        "drain",
        .post,
        "/v1/drain",
        alias: "/drain",
        for: .operator,
        .monitoring,
        "Takes no new sessions and viewers, and ends the relay when nobody watches or waits any more.",
        status: 202,
        answer: "It drains."
    )
}

extension Routes {
    static let page = [getPage.route, getPageFile.route, getContract.route]

    package static let getPage = Call<NoArguments, Bytes>(
        "getPage",
        "/",
        for: .anyone,
        .page,
        "Returns the web page.",
        arguments: .nowhere,
        answer: Route.Answer(description: "The page.", contents: [("text/html", .text)])
    )

    package static let getPageFile = Call<NoArguments, Bytes>(
        "getPageFile",
        "/page/{file}",
        for: .anyone,
        .page,
        "Returns a file of the web page.",
        arguments: .nowhere,
        answer: Route.Answer(
            description: "The file.",
            contents: ["image/svg+xml", "text/css", "text/javascript"].map { ($0, .text) }
        )
    ) { $0.ownProblems = [.unknownRoute] }

    package static let getContract = Call<NoArguments, Bytes>(
        "getContract",
        "/openapi.json",
        for: .anyone,
        .page,
        "Returns this document.",
        arguments: .nowhere,
        answer: Route.Answer(
            description: "The document.",
            contents: [
                (
                    "application/json",
                    .report(nil, ["openapi", "info", "paths"].map { Field($0, .anything) }).open
                )
            ]
        )
    )
}
