extension Routes {
    static let actions = [act.route, release.route]

    /// The longest body of actions, bytes.
    private static let maximumActions = 1 << 20

    private static let deviceActions = "/v1/devices/{device}/actions"

    package static let act = Call<ActionsRequest, ActionsReport>(
        "act",
        .post,
        deviceActions,
        for: .controller,
        .actions,
        "Acts on the device's screen: moves the pointer, clicks, touches, scrolls, presses keys, types.",
        """
        It answers when the desktop has all events. Only one caller controls a device at a time, until 5 s after its last \
        actions. What is still held is released 2 s after the last actions.
        """,
        answer: "They are done."
    ) {
        $0.maximumBody = maximumActions
        $0.ownProblems =
            [
                .init([.missingField, .unknownField, .unknownValue, .outOfRange], "The actions are wrong."),
                .init([.unknownSession], "The device has no such session, or none to which places could refer."),
                .init(
                    [.noInput, .noSource, .geometryChanged, .controlled, .tooManyOrders],
                    """
                    The desktop cannot do that, no agent is linked, the picture's coordinates mean something else by now, another \
                    caller controls the device, or too many calls wait.
                    """,
                    [
                        Field("input", InputDevicesReport.schema.orNull, "Of `no_input`: what the agent can do."),
                        Field("controller", .text, "Of `controlled`: the other caller."),
                    ]
                ),
                .init([.inputFailed], "The desktop did not take an event, or the agent was lost meanwhile."),
                .init(
                    [.noPicture],
                    "There is no picture yet to which places could refer.",
                    [Field("cause", .words("no_frame", "unknown_session"), "Of `no_picture`.")]
                ),
                .init([.inputTimeout], "The agent did not answer in time."),
            ] + ProblemAnswer.startOnDemand
    }

    package static let release = Call<ReleaseQuery, ReleaseReport>(
        "release",
        .delete,
        deviceActions,
        for: .controller,
        .actions,
        "Releases all buttons, keys and touches of the device, and ends the caller's control.",
        arguments: .query,
        answer: "Nothing is held now."
    ) {
        $0.ownProblems = [
            .init(
                [.controlled],
                "Another caller controls the device.",
                [Field("controller", .text, "The other caller.", isRequired: true)]
            ),
            .init([.inputTimeout], "The agent did not answer in time."),
        ]
    }
}
