extension Routes {
    static let library = [
        startRecording.route, stopRecording.route, startDeviceRecording.route, stopDeviceRecording.route,
        listLibrary.route, listLibraryChanges.route, getLibraryCatalogue.route, followLibrary.route,
        listLibraryClients.route, getLibraryUsage.route, getLibraryItem.route,
        changeLibraryItem.route, deleteLibraryItem.route, restoreLibraryItem.route, getLibraryFile.route,
        getLibraryClip.route, getLibraryThumbnail.route, getLibraryStoryboard.route, getLibrarySheet.route,
        getRecordingPlaylist.route, getRecordingTrack.route, getRecordingInitialization.route,
        getRecordingSegment.route,
    ]

    private static let item = "/v1/library/{item}"

    static let noLibrary = ProblemAnswer(
        [.libraryUnavailable],
        "The relay has no library, or cannot use it: `detail` says why."
    )
    static let noItem = ProblemAnswer(
        [.unknownItem],
        "There is no such item, its file is gone, or it has no such track."
    )

    package static let startRecording = Call<NoArguments, SessionReport>(
        "startRecording",
        .post,
        "/v1/sessions/{id}/record/start",
        for: .record,
        .library,
        "Records a session into the library: sets its `record`.",
        "The recording begins with the next keyframe, which the relay asks for. It goes on after a restart of the relay.",
        answer: "The session."
    ) { $0.ownProblems = [noLibrary] }

    package static let stopRecording = Call<NoArguments, SessionReport>(
        "stopRecording",
        .post,
        "/v1/sessions/{id}/record/stop",
        for: .record,
        .library,
        "Ends the recording of a session, and completes its file.",
        answer: "The session."
    ) { $0.ownProblems = [noLibrary] }

    package static let startDeviceRecording = Call<NoArguments, SessionReport>(
        "startDeviceRecording",
        .post,
        "/v1/devices/{device}/record/start",
        for: .record,
        .library,
        "Records a device: its shared session, which is started if there is none.",
        "The setting `record` of the device does the same whenever it is broadcast.",
        answer: "The session."
    ) { $0.ownProblems = [noLibrary, .noRoomForSession] }

    package static let stopDeviceRecording = Call<NoArguments, SessionReport>(
        "stopDeviceRecording",
        .post,
        "/v1/devices/{device}/record/stop",
        for: .record,
        .library,
        "Ends the recording of a device's shared session, which goes on.",
        answer: "The session."
    ) { $0.ownProblems = [noLibrary, .init([.unknownSession], "The device has no shared session.")] }

    package static let listLibrary = Call<LibraryQuery, LibraryPage>(
        "listLibrary",
        .get,
        "/v1/library",
        for: .look,
        .library,
        "Lists recordings, a page at a time, in the order of time.",
        "All conditions must hold. There is no total, which would take long in a large library.",
        answer: "The page."
    ) {
        $0.isScoped = true
        $0.ownProblems = [noLibrary]
    }

    package static let listLibraryChanges = Call<LibraryChangesQuery, LibraryChanges>(
        "listLibraryChanges",
        .get,
        "/v1/library/changes",
        for: .look,
        .library,
        "Returns which items have changed since a former call.",
        answer: "The changes."
    ) {
        $0.isScoped = true
        $0.ownProblems = [noLibrary]
    }

    package static let getLibraryCatalogue = Call<CatalogueQuery, Bytes>(
        "getLibraryCatalogue",
        "/v1/library/db",
        alias: "/db",
        for: .look,
        .library,
        "Returns a copy of the library's catalogue as an SQLite database, with the items that the caller may see.",
        "`ETag` is its mark in quotes. A copy of everything may be a minute old; `since` with its mark brings the rest.",
        answer: Route.Answer(
            description: "The database.",
            contents: [("application/vnd.sqlite3", .bytes)],
            headers: catalogueHeaders
        )
    ) {
        $0.isScoped = true
        $0.ownProblems = [noLibrary]
        $0.otherAnswers = [notModified(catalogueHeaders)]
    }

    package static let followLibrary = Call<NoArguments, Bytes>(
        "followLibrary",
        "/v1/library/ws",
        alias: "/ws",
        for: .look,
        .library,
        "Follows the library over a WebSocket, and tells others what the caller plays.",
        "docs/reference/library-channel.md describes the messages.",
        answer: .webSocket
    ) {
        $0.refusesBody = true
        $0.isScoped = true
        $0.ownProblems = [noLibrary, .upgradeRequired]
    }

    package static let listLibraryClients = Call<NoArguments, LibraryClients>(
        "listLibraryClients",
        .get,
        "/v1/library/clients",
        for: .look,
        .library,
        "Lists who follows the library, and what they play.",
        answer: "The clients."
    ) {
        $0.isScoped = true
        $0.ownProblems = [noLibrary]
    }

    package static let getLibraryUsage = Call<NoArguments, LibraryUsage>(
        "getLibraryUsage",
        .get,
        "/v1/library/usage",
        for: .look,
        .library,
        "Returns how much space the library has and takes.",
        answer: "The usage."
    ) {
        $0.isScoped = true
        $0.ownProblems = [noLibrary]
    }

    package static let getLibraryItem = Call<NoArguments, LibraryItem>(
        "getLibraryItem",
        .get,
        item,
        for: .look,
        .library,
        "Returns one item.",
        answer: "The item."
    ) { $0.ownProblems = [noLibrary, noItem] }

    package static let changeLibraryItem = Call<LibraryChange, LibraryItem>(
        "changeLibraryItem",
        .patch,
        item,
        for: .delete,
        .library,
        "Pins an item, or changes its labels.",
        answer: "The item."
    ) { $0.ownProblems = [noLibrary, noItem] }

    package static let deleteLibraryItem = Call<NoArguments, LibraryItem>(
        "deleteLibraryItem",
        .delete,
        item,
        for: .delete,
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
        for: .delete,
        .library,
        "Takes back that an item was deleted.",
        answer: "The item."
    ) { $0.ownProblems = [noLibrary, noItem] }

    package static let getLibraryFile = Call<NoArguments, Bytes>(
        "getLibraryFile",
        item + "/file",
        for: .look,
        .library,
        "Returns an item's file, or a range of it (RFC 9110, 14).",
        "The file of a recording that goes on has what was written so far.",
        answer: Route.Answer(description: "The file.", contents: fileTypes, headers: movieHeaders)
    ) {
        $0.auditsReads = true
        $0.ownProblems = [noLibrary, noItem, noRange]
        $0.otherAnswers = partial(fileTypes)
    }

    package static let getLibraryClip = Call<ClipQuery, Bytes>(
        "getLibraryClip",
        item + "/clip",
        for: .look,
        .library,
        "Returns a part of a recording as MP4, which begins exactly at the given time.",
        "Nothing is encoded again. The clip may span several files of the recording and the gaps between them.",
        answer: Route.Answer(description: "The clip.", contents: movieTypes, headers: movieHeaders)
    ) {
        $0.auditsReads = true
        $0.ownProblems = [
            noLibrary, noItem, noRange,
            .init(
                [.outOfRange],
                "Nothing was recorded in that time, or the picture's size or encoding changes in it: clip each file."
            ),
        ]
        $0.otherAnswers = partial(movieTypes)
    }

    package static let getLibraryThumbnail = Call<NoArguments, Bytes>(
        "getLibraryThumbnail",
        item + "/thumbnail.jpg",
        for: .look,
        .library,
        "Returns a small picture of an item's beginning.",
        answer: companion("The picture.", "image/jpeg")
    ) { $0.ownProblems = [noLibrary, noCompanion] }

    package static let getLibraryStoryboard = Call<NoArguments, Bytes>(
        "getLibraryStoryboard",
        item + "/storyboard.vtt",
        for: .look,
        .library,
        "Returns when which small picture shows an item, as WebVTT.",
        "Each cue is a sheet's address, relative to this one, and a rectangle of it: `storyboard/0#xywh=0,192,320,180`.",
        answer: companion("The storyboard.", "text/vtt")
    ) { $0.ownProblems = [noLibrary, noCompanion] }

    package static let getLibrarySheet = Call<NoArguments, Bytes>(
        "getLibrarySheet",
        item + "/storyboard/{sheet}",
        for: .look,
        .library,
        "Returns a sheet of an item's storyboard.",
        answer: companion("Pictures below each other.", "image/jpeg")
    ) { $0.ownProblems = [noLibrary, noCompanion] }

    package static let getRecordingPlaylist = Call<NoArguments, Bytes>(
        "getRecordingPlaylist",
        item + "/hls/index.m3u8",
        for: .look,
        .library,
        "Returns the recording of an item as HLS (RFC 8216): the address for players.",
        "It has all files of the recording. While the recording goes on, it ends before the last written picture, "
            + "or with sound two seconds earlier.",
        answer: playlist("The multivariant playlist.")
    ) {
        $0.auditsReads = true
        $0.ownProblems = [noLibrary, noItem]
    }

    package static let getRecordingTrack = Call<NoArguments, Bytes>(
        "getRecordingTrack",
        item + "/hls/{track}/index.m3u8",
        for: .look,
        .library,
        "Returns the segments of a track of a recording, as HLS.",
        answer: playlist("The media playlist.")
    ) {
        $0.auditsReads = true
        $0.ownProblems = [noLibrary, noItem]
    }

    package static let getRecordingInitialization = Call<NoArguments, Bytes>(
        "getRecordingInitialization",
        item + "/hls/{track}/init.mp4",
        for: .look,
        .library,
        "Returns what a player needs before the segments of an item's track.",
        answer: segment("The initialization segment.")
    ) { $0.ownProblems = [noLibrary, noItem] }

    package static let getRecordingSegment = Call<NoArguments, Bytes>(
        "getRecordingSegment",
        item + "/hls/{track}/{offset}/{segment}",
        for: .look,
        .library,
        "Returns a segment of an item's track, whose address a playlist has.",
        "It is made of the item's file without another encoding. A recording's stays the same for ever.",
        answer: segment("The segment: one fragment of MP4, or frames of MP3.", more: [("audio/mpeg", .bytes)])
    ) { $0.ownProblems = [noLibrary, noItem] }

    static func playlist(_ description: String) -> Route.Answer {
        companion(description, "application/vnd.apple.mpegurl")
    }

    private static func segment(
        _ description: String,
        more: [(type: String, schema: Schema)] = []
    ) -> Route.Answer {
        Route.Answer(
            description: description,
            contents: [("video/mp4", .bytes), ("audio/mp4", .bytes)] + more,
            headers: [Field("Cache-Control", .text, isRequired: true)]
        )
    }

    private static let noCompanion = ProblemAnswer(
        [.unknownItem],
        "There is no such item, or it has no picture: nothing changed on the screen, or no agent made one."
    )

    private static func companion(_ description: String, _ type: String) -> Route.Answer {
        Route.Answer(
            description: description,
            contents: [(type, .bytes)],
            headers: [Field("Cache-Control", .text, isRequired: true)]
        )
    }

    private static let noRange = ProblemAnswer(
        [.badRange],
        "There is no such range.",
        headers: [Field("Content-Range", .text, "`bytes */` and the number of bytes.", isRequired: true)]
    )

    private static let catalogueHeaders = [
        Field("ETag", .text, "The mark of the moment that it shows, in quotes.", isRequired: true),
        Field("Cache-Control", .text, isRequired: true),
    ]

    private static let movieHeaders = [
        Field("ETag", .text, "Stays while the bytes do.", isRequired: true),
        Field("Accept-Ranges", .text, isRequired: true),
        Field("Content-Disposition", .text, "A name for the file.", isRequired: true),
    ]

    private static let movieTypes: [(type: String, schema: Schema)] = [("video/mp4", .bytes)]
    private static let fileTypes = movieTypes + [("audio/mpeg", .bytes)]

    /// Returns the other answers to a call for a range of bytes.
    private static func partial(_ contents: [(type: String, schema: Schema)]) -> [Route.Answer] {
        [
            Route.Answer(
                status: 206,
                description: "The range that was asked for.",
                contents: contents,
                headers: movieHeaders + [Field("Content-Range", .text, "Which bytes of how many.", isRequired: true)]
            ),
            notModified(movieHeaders),
        ]
    }

    private static func notModified(_ headers: [Field]) -> Route.Answer {
        Route.Answer(
            status: 304,
            description: "`If-None-Match` has the current ETag.",
            contents: [],
            headers: headers
        )
    }
}
