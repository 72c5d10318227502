extension Routes {
    static let applications = [
        launchApplication.route, listApplications.route, focusApplication.route, terminateApplication.route,
    ]

    private static let deviceApplications = "/v1/devices/{device}/applications"

    private static let controlled = Field("controller", .text, "Of `controlled`: the other caller.")
    private static let input = Field("input", InputDevicesReport.schema.orNull, "Of `no_input`: what the agent can do.")

    package static let launchApplication = Call<LaunchRequest, ApplicationReport>(
        "launchApplication",
        .post,
        deviceApplications,
        for: .controller,
        .applications,
        "Launches an application on the device's desktop.",
        """
        Its command is the configuration's, or a desktop file's. It answers when the program runs, or with `wait` when it \
        has a window. If that fails, nothing of it keeps running.
        """,
        status: 201,
        answer: "It runs."
    ) {
        $0.ownProblems = [
            .init(
                [.missingField, .unknownField],
                "There is neither or both of `name` and `desktopFile`, or arguments that are not allowed."
            ),
            .init([.unknownApplication], "The configuration or the desktop has no such application."),
            .init(
                [.noInput, .noSource, .controlled, .tooManyApplications, .noWindow, .noWindowControl],
                """
                The device's `input` is `off`, no agent is linked, another caller controls the device, too many applications \
                run, it has no window, or the desktop does not say which windows it has.
                """,
                [input, controlled]
            ),
            .init([.applicationFailed], "It cannot be started, it ended without a window, or the agent was lost."),
            .init([.applicationTimeout], "It had no window in time, or the agent did not answer."),
        ]
    }

    package static let listApplications = Call<NoArguments, ApplicationList>(
        "listApplications",
        .get,
        deviceApplications,
        for: .controller,
        .applications,
        "Lists what was launched on the device, and what may be launched.",
        answer: "The applications."
    )

    package static let focusApplication = Call<FocusRequest, ApplicationReport>(
        "focusApplication",
        .post,
        deviceApplications + "/{application}/focus",
        for: .controller,
        .applications,
        "Gives the application's newest window the keyboard.",
        answer: "It has it."
    ) {
        $0.ownProblems = [
            .init([.unknownApplication], "No application with this id was launched."),
            .init(
                [.noInput, .noSource, .controlled, .noWindow, .noWindowControl],
                """
                The device's `input` is `off`, no agent is linked, another caller controls the device, the application has no \
                window, or the desktop does not say which windows it has.
                """,
                [input, controlled]
            ),
            .init([.applicationFailed], "The desktop did not do it, or the agent was lost."),
            .init([.applicationTimeout], "The agent did not answer."),
        ]
    }

    package static let terminateApplication = Call<TerminateQuery, ApplicationReport>(
        "terminateApplication",
        .delete,
        deviceApplications + "/{application}",
        for: .controller,
        .applications,
        "Ends all processes of the application: by SIGTERM, and 5 s later by SIGKILL.",
        arguments: .query,
        answer: "None of its processes runs now."
    ) {
        $0.ownProblems = [
            .init([.unknownApplication], "No application with this id was launched."),
            .init([.controlled], "Another caller controls the device.", [controlled]),
            .init([.applicationFailed], "Processes of it do not end."),
        ]
    }
}
