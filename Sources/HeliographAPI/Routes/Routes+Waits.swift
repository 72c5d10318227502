extension Routes {
    static let waits = [
        waitForScreen.route, waitForPicture.route, getSoundLevel.route, listTemplates.route, putTemplate.route,
        deleteTemplate.route,
    ]

    /// Longest template, bytes.
    package static let maximumTemplate = 1 << 20

    package static let waitForScreen = Call<ScreenWait, ScreenWaitReport>(
        "waitForScreen",
        .get,
        "/v1/sessions/{id}/wait",
        for: .viewer,
        .waits,
        """
        Answers when the screen, or a part of it, changes, has been static for a while, or shows a template; or when the \
        device's sound begins or ends.
        """,
        """
        With `region`, `ignore`, `tolerance`, `share` or a template the capture agent compares pixels, and no encoder is \
        started. The answer is 200 whatever comes of it. One that takes long begins with spaces, one in 10 s. The connection \
        ends with it.
        """,
        answer: "What came of it."
    ) {
        $0.refusesBody = true
        $0.isOfDevice = true
        $0.ownProblems = [
            .init(
                [.missingField, .unknownField, .outOfRange, .badTemplate],
                "Fields do not go together, the region is not within the screen, or the template is broken."
            ),
            .init([.unknownTemplate], "The device has no such template."),
            .init([.tooManyWaits], "As many calls wait as the session may have viewers."),
            .init([.noSound], "The device's `audio` is off."),
        ]
    }

    package static let getSoundLevel = Call<SoundLevelQuery, SoundLevelReport>(
        "getSoundLevel",
        .get,
        "/v1/sessions/{id}/audio/level",
        for: .viewer,
        .waits,
        "Measures how loud the device's sound is.",
        "The time is counted from when an agent captures the sound. No encoder of pictures is started.",
        answer: "The level."
    ) {
        $0.refusesBody = true
        $0.isOfDevice = true
        $0.ownProblems = [
            .init([.tooManyWaits], "As many calls wait as the session may have viewers."),
            .init([.noSound], "The device's `audio` is off, or its sound cannot be captured: `detail` says why."),
        ]
    }

    package static let waitForPicture = Call<WaitQuery, ScreenEvent>(
        "waitForPicture",
        .get,
        "/screencapture/{id}/wait",
        for: .viewer,
        .waits,
        "Answers when the screen changes, or has been static for a while: `waitForScreen` with errors for what did not happen.",
        "The connection ends with the answer.",
        answer: "It happened."
    ) {
        $0.refusesBody = true
        $0.ownProblems = [
            .init([.tooManyViewers], "As many calls wait as the session may have viewers."),
            .init(
                [.waitTimeout],
                "It did not happen in time; `feed` is the session's.",
                [Field("feed", .feed, isRequired: true)]
            ),
        ]
    }

    private static let templates = "/v1/devices/{device}/templates"

    package static let listTemplates = Call<NoArguments, TemplateList>(
        "listTemplates",
        .get,
        templates,
        for: .viewer,
        .waits,
        "Lists the device's templates.",
        answer: "The templates."
    )

    package static let putTemplate = Call<NoArguments, TemplateReport>(
        "putTemplate",
        .put,
        templates + "/{name}",
        for: .operator,
        .waits,
        "Uploads a PNG picture that waits compare the screen with; its transparent pixels do not count.",
        "A device has at most 100. They are kept until the relay ends.",
        arguments: .png,
        answer: "The template."
    ) {
        $0.ownProblems = [
            .init([.badTemplate, .unknownValue], "The body is not a PNG image, or the name is not valid."),
            .init([.tooManyTemplates], "The device has as many templates as it may have."),
            .init([.bodyTooLarge], "The image is larger than 1 MiB."),
        ]
    }

    package static let deleteTemplate = Call<NoArguments, DeletedTemplate>(
        "deleteTemplate",
        .delete,
        templates + "/{name}",
        for: .operator,
        .waits,
        "Removes a template.",
        arguments: .query,
        answer: "There is none of this name now."
    )
}
