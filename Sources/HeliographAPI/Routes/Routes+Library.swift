extension Routes {
    static let library = [
        startRecording.route, stopRecording.route, listLibrary.route, listLibraryChanges.route, getLibraryItem.route,
        changeLibraryItem.route, deleteLibraryItem.route, restoreLibraryItem.route, getLibraryFile.route,
        getLibraryClip.route,
    ]

    private static let item = "/v1/library/{item}"

    private static let noLibrary = ProblemAnswer(
        [.libraryUnavailable],
        "The relay has no library, or cannot use it: `detail` says why."
    )
    private static let noItem = ProblemAnswer([.unknownItem], "There is no such item, or its file is gone.")

    package static let startRecording = Call<NoArguments, SessionReport>(
        "startRecording",
        .post,
        "/v1/sessions/{id}/record/start",
        for: .operator,
        .library,
        "Records a session into the library: sets its `record`.",
        "The recording begins with the next keyframe, which the relay asks for. It goes on after a restart of the relay.",
        answer: "The session."
    ) { $0.ownProblems = [noLibrary] }

    package static let stopRecording = Call<NoArguments, SessionReport>(
        "stopRecording",
        .post,
        "/v1/sessions/{id}/record/stop",
        for: .operator,
        .library,
        "Ends the recording of a session, and completes its file.",
        answer: "The session."
    ) { $0.ownProblems = [noLibrary] }

    package static let listLibrary = Call<LibraryQuery, LibraryPage>(
        "listLibrary",
        .get,
        "/v1/library",
        for: .viewer,
        .library,
        "Lists recordings, a page at a time, in the order of time.",
        "All conditions must hold. There is no total, which would take long in a large library.",
        answer: "The page."
    ) { $0.ownProblems = [noLibrary] }

    package static let listLibraryChanges = Call<LibraryChangesQuery, LibraryChanges>(
        "listLibraryChanges",
        .get,
        "/v1/library/changes",
        for: .viewer,
        .library,
        "Returns which items have changed since a former call.",
        answer: "The changes."
    ) { $0.ownProblems = [noLibrary] }

    package static let getLibraryItem = Call<NoArguments, LibraryItem>(
        "getLibraryItem",
        .get,
        item,
        for: .viewer,
        .library,
        "Returns one item.",
        answer: "The item."
    ) { $0.ownProblems = [noLibrary, noItem] }

    package static let changeLibraryItem = Call<LibraryChange, LibraryItem>(
        "changeLibraryItem",
        .patch,
        item,
        for: .operator,
        .library,
        "Pins an item, or changes its labels.",
        answer: "The item."
    ) { $0.ownProblems = [noLibrary, noItem] }

    package static let deleteLibraryItem = Call<NoArguments, LibraryItem>(
        "deleteLibraryItem",
        .delete,
        item,
        for: .operator,
        .library,
        "Deletes an item.",
        "It can be restored for 60 s. Then its files are removed.",
        arguments: .query,
        answer: "The item, which is deleted."
    ) {
        $0.ownProblems = [
            noItem,
            .init([.libraryUnavailable, .itemInUse], "The relay has no library, or the item is being recorded."),
        ]
    }

    package static let restoreLibraryItem = Call<NoArguments, LibraryItem>(
        "restoreLibraryItem",
        .post,
        item + "/restore",
        for: .operator,
        .library,
        "Takes back that an item was deleted.",
        answer: "The item."
    ) { $0.ownProblems = [noLibrary, noItem] }

    package static let getLibraryFile = Call<NoArguments, Bytes>(
        "getLibraryFile",
        item + "/file",
        for: .viewer,
        .library,
        "Returns an item's file, or a range of it (RFC 9110, 14).",
        "The file of a recording that goes on has what was written so far.",
        answer: movie("The file.")
    ) {
        $0.ownProblems = [noLibrary, noItem, noRange]
        $0.otherAnswers = partialMovies
    }

    package static let getLibraryClip = Call<ClipQuery, Bytes>(
        "getLibraryClip",
        item + "/clip",
        for: .viewer,
        .library,
        "Returns a part of a recording as MP4, which begins exactly at the given time.",
        "Nothing is encoded again. The clip may span several files of the recording and the gaps between them.",
        answer: movie("The clip.")
    ) {
        $0.ownProblems = [
            noLibrary, noItem, noRange,
            .init(
                [.outOfRange],
                "Nothing was recorded in that time, or the picture's size or encoding changes in it: clip each file."
            ),
        ]
        $0.otherAnswers = partialMovies
    }

    private static let noRange = ProblemAnswer(
        [.badRange],
        "There is no such range.",
        headers: [Field("Content-Range", .text, "`bytes */` and the number of bytes.", isRequired: true)]
    )

    private static let movieHeaders = [
        Field("ETag", .text, "Stays while the bytes do.", isRequired: true),
        Field("Accept-Ranges", .text, isRequired: true),
        Field("Content-Disposition", .text, "A name for the file.", isRequired: true),
    ]

    private static func movie(_ description: String) -> Route.Answer {
        Route.Answer(description: description, contents: [("video/mp4", .bytes)], headers: movieHeaders)
    }

    private static let partialMovies = [
        Route.Answer(
            status: 206,
            description: "The range that was asked for.",
            contents: [("video/mp4", .bytes)],
            headers: movieHeaders + [Field("Content-Range", .text, "Which bytes of how many.", isRequired: true)]
        ),
        Route.Answer(
            status: 304,
            description: "`If-None-Match` has the current ETag.",
            contents: [],
            headers: movieHeaders
        ),
    ]
}
