/// How the recording of a session is getting on.
package struct RecordingReport: APIModel, Equatable {
    package var state = ""
    package var recording: String?
    package var item: Int?
    package var startedAt: String?
    package var seconds = 0.0
    package var bytes: UInt64 = 0
    package var files: UInt64 = 0
    package var gaps: UInt64 = 0
    package var gapSeconds = 0.0
    package var problem: String?

    package init() {}

    /// What a recording does.
    package enum State: String, Sendable, CaseIterable {
        /// Pictures are written.
        case recording
        /// The first keyframe has not come, nobody watches or nothing changes, or the library is not open yet.
        case waiting
        case diskFull = "disk_full"
        case diskError = "disk_error"
        case libraryError = "library_error"
    }

    package static let schema = Schema.report(
        "Recording",
        "How the recording of a session is getting on.",
        [
            Field(
                "state",
                .words(State.self),
                "`recording`, `waiting` for what `recordWhen` says or for a keyframe, or why nothing is written now."
            ),
            Field(
                "recording",
                .text.orNull,
                "The recording's id; its files have it, too. Null until the library is open."
            ),
            Field("item", .anyInteger.orNull, "The library's id of the current file; null if there is none."),
            Field("startedAt", .date.orNull, "When the current file began; null if there is none."),
            Field("seconds", .figure, "The current file's length, s."),
            Field("bytes", .tally, "The current file's size."),
            Field("files", .tally, "The files of the recording in this run of the relay."),
            Field("gaps", .tally, "How often pictures were missing."),
            Field("gapSeconds", .figure, "How long they were missing in all, s."),
            Field("problem", .text.orNull, "Why nothing is written, and what to do; null if something is."),
        ]
    )
}

/// A file of the library.
package struct LibraryItem: APIModel, Equatable {
    package var id = 0
    package var recording = ""
    package var number = 0
    package var device = ""
    package var session: UInt32 = 0
    package var name: String?
    package var owner: String?
    package var labels: [String: String] = [:]
    package var state = ""
    package var start = ""
    package var seconds = 0.0
    package var bytes: UInt64 = 0
    package var width = 0
    package var height = 0
    package var fps = 0.0
    package var tracks: [Track] = []
    package var gaps: [Gap] = []
    package var keyframes = 0
    package var pinned = false
    package var thumbnail = false

    package init() {}

    package struct Track: APIModel, Equatable {
        package var kind = ""
        package var codec = ""

        package init() {}

        package static let schema = Schema.report(
            nil,
            [Field("kind", .text, "`video` or `audio`."), Field("codec", .text, "As RFC 6381 has it: `avc1.42C01F`.")]
        )
    }

    package struct Gap: APIModel, Equatable {
        package var start = 0.0
        package var seconds = 0.0
        package var reason = ""

        package init() {}

        package static let schema = Schema.report(
            nil,
            [
                Field("start", .figure, "The time in the file, s."),
                Field("seconds", .figure, "How long it lasts, s. The last picture before it stays."),
                Field("reason", .text, "`source_lost`, or `queue_full` if the disk was too slow."),
            ]
        )
    }

    package static let schema = Schema.report(
        "LibraryItem",
        "One file of a recording.",
        [
            Field("id", .anyInteger, "For its address; in the order of time."),
            Field("recording", .text, "The recording that it belongs to."),
            Field("number", .anyInteger, "Its place in the recording, from 0."),
            Field("device", .text),
            Field(
                "session",
                .anyInteger,
                "0 for a file of another program, which has no clips and, as a movie, no HLS."
            ),
            Field("name", .text.orNull, "The session's name; null for none."),
            Field("owner", .text.orNull, "The name of the key that began the recording; null for none."),
            Field("labels", .dictionary(of: .text), "Texts by name."),
            Field(
                "state",
                .text,
                "`recording`, `complete`, `interrupted` if it broke off and could not be completed, `missing` if it is gone."
            ),
            Field("start", .date, "When its first picture was taken."),
            Field("seconds", .figure, "Its length, s."),
            Field("bytes", .tally),
            Field("width", .anyInteger), Field("height", .anyInteger), Field("fps", .figure),
            Field("tracks", .array(of: Track.schema)),
            Field("gaps", .array(of: Gap.schema), "Times without new pictures because something was lost."),
            Field("keyframes", .anyInteger),
            Field("pinned", .bool, "Whether it is never deleted to make room."),
            Field("thumbnail", .bool, "Whether it has a thumbnail."),
        ]
    )
}

/// A page of the library.
package struct LibraryPage: APIModel {
    package var items: [LibraryItem] = []
    package var next: String?

    package init() {}

    package static let schema = Schema.report(
        "LibraryPage",
        [
            Field("items", .array(of: LibraryItem.schema)),
            Field(
                "next",
                .text.orNull,
                "The `cursor` of the next page; null at the end. A page may be short although there is a next one."
            ),
        ]
    )
}

/// How much space the library has and takes.
package struct LibraryUsage: APIModel {
    package var items = 0
    package var bytes: UInt64 = 0
    package var freeBytes: UInt64 = 0
    package var pausesBelow: UInt64 = 0
    package var mostBytes: UInt64?
    package var devices: [Device] = []

    package init() {}

    package struct Device: APIModel {
        package var device = ""
        package var items = 0
        package var bytes: UInt64 = 0

        package init() {}

        package static let schema = Schema.report(
            nil,
            [Field("device", .text), Field("items", .tally), Field("bytes", .tally)]
        )
    }

    package static let schema = Schema.report(
        "LibraryUsage",
        "Sizes in bytes. The files that are being written count with what they had at most 10 s ago.",
        [
            Field("items", .tally),
            Field("bytes", .tally, "The size of all files."),
            Field("freeBytes", .tally, "Free on the library's disk."),
            Field("pausesBelow", .tally, "Recordings pause while less is free: the setting `libraryFree`."),
            Field("mostBytes", .tally.orNull, "The setting `librarySize`; null for no limit."),
            Field("devices", .array(of: Device.schema), "By name."),
        ]
    )
}

/// What has changed in the library.
package struct LibraryChanges: APIModel {
    package var changed: [Int] = []
    package var removed: [Int] = []
    package var mark = ""
    package var listAgain = false

    package init() {}

    package static let schema = Schema.report(
        "LibraryChanges",
        [
            Field("changed", .array(of: .anyInteger), "The ids of items that are new or have changed."),
            Field("removed", .array(of: .anyInteger), "The ids of deleted items."),
            Field("mark", .text, "Pass it as `since` next time."),
            Field("listAgain", .bool, "Whether `since` is too old, so that the library has to be listed again."),
        ]
    )
}

/// A playlist.
package struct PlaylistReport: APIModel {
    package var name = ""
    package var items: [LibraryItem] = []

    package init() {}

    package static let schema = Schema.report(
        "Playlist",
        [
            Field("name", .text),
            Field(
                "items",
                .array(of: LibraryItem.schema),
                "In their order, without deleted ones and those of devices that the key is not for."
            ),
        ]
    )
}

/// The playlists of the library.
package struct PlaylistList: APIModel {
    package var playlists: [Entry] = []

    package init() {}

    package struct Entry: APIModel {
        package var name = ""
        package var length = 0

        package init() {}

        package static let schema = Schema.report(
            nil,
            [Field("name", .text), Field("length", .anyInteger, "How many items it has, deleted ones included.")]
        )
    }

    package static let schema = Schema.report(
        "PlaylistList",
        [Field("playlists", .array(of: Entry.schema), "By name.")]
    )
}
