import Wire

extension Routes {
    static let clipboard = [getClipboard.route, setClipboard.route]

    private static let deviceClipboard = "/v1/devices/{device}/clipboard"
    private static let maximumText = ClipboardContent.Kind.text.maximumByteCount
    private static let maximumPNG = ClipboardContent.Kind.png.maximumByteCount

    package static let getClipboard = Call<ClipboardQuery, Bytes>(
        "getClipboard",
        deviceClipboard,
        for: .controller,
        .actions,
        "Reads the clipboard of the device's desktop.",
        "Needs control of the device, as actions do, because a clipboard may hold secrets.",
        answer: Route.Answer(
            description: "The content.",
            contents: ClipboardType.allCases.map { ($0.mediaType, .bytes) }
        )
    ) {
        $0.refusesBody = true
        $0.ownProblems = [
            .init([.emptyClipboard], "The clipboard has no content of that type."),
            .noClipboard, .clipboardFailed, .clipboardTimeout,
        ]
    }

    package static let setClipboard = Call<ClipboardTake, ClipboardSetReport>(
        "setClipboard",
        .put,
        deviceClipboard,
        for: .controller,
        .actions,
        "Puts a text or a PNG image into the clipboard of the device's desktop.",
        """
        The body is `text/plain` in UTF-8, at most \(maximumText) bytes, or `image/png`, at most \(maximumPNG) bytes. The \
        capture agent hands the content to programs that paste, until another program sets the clipboard or the agent ends.
        """,
        arguments: .content,
        answer: "The clipboard has the content."
    ) {
        $0.contents = ClipboardType.allCases.map(\.mediaType)
        $0.maximumBody = maximumPNG
        $0.ownProblems = [
            .init([.badContent], "The body is neither UTF-8 text nor a PNG image, or not what `Content-Type` says."),
            .init([.bodyTooLarge], "The content is too large for its type."),
            .noClipboard, .clipboardFailed, .clipboardTimeout,
        ]
    }
}

extension ProblemAnswer {
    fileprivate static let noClipboard = Self(
        [.noInput, .noSource, .controlled, .tooManyOrders],
        """
        The agent cannot use the desktop's clipboard, no agent is linked, another caller controls the device, or too many \
        calls wait.
        """,
        [
            Field("input", InputDevicesReport.schema.orNull, "Of `no_input`: what the agent can do."),
            Field("controller", .text, "Of `controlled`: the other caller."),
        ]
    )
    fileprivate static let clipboardFailed = Self(
        [.inputFailed],
        "The desktop or its program gave nothing usable, or the agent was lost meanwhile."
    )
    fileprivate static let clipboardTimeout = Self(
        [.inputTimeout],
        "The program that has the content, or the agent, did not answer in time."
    )
}
