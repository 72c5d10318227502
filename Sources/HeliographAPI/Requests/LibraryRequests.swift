/// Which items to list: the query of GET /v1/library.
package struct LibraryQuery: APIModel {
    package var device: String?
    package var session: Int?
    package var recording: String?
    package var label: String?
    package var state: String?
    package var since: String?
    package var until: String?
    package var pinned: Bool?
    package var text: String?
    package var order = Order.newest
    package var cursor: String?
    package var limit = 100

    package enum Order: String, Sendable, CaseIterable, Codable {
        case newest, oldest
    }

    package init() {}

    package static let schema = Schema.request(
        nil,
        [
            Field("device", .string(0...100), "Only items of this device."),
            Field("session", .integer(1...4_294_967_295), "Only items of this session."),
            Field("recording", .string(0...100), "Only the files of this recording."),
            Field("label", .string(0...300), "Only items with this label, as `NAME=VALUE`."),
            Field("state", .string(0...20), "Only items in this state."),
            Field(
                "since",
                .string(0...40),
                "Only items that began at this time or later, such as `2026-01-31T12:00:00Z`."
            ),
            Field("until", .string(0...40), "Only items that began before this time."),
            Field("pinned", .bool, "Only pinned items, or only others."),
            Field(
                "text",
                .string(0...200),
                "Words that the device, the session's name and the labels contain, all of them. Beginnings are enough."
            ),
            Field("order", .words(Order.self).default("newest"), "By when they began."),
            Field("cursor", .string(0...200), "The `next` of the page before."),
            Field("limit", .integer(1...1000).default(100), "The most items of a page."),
        ]
    )
}

/// A change to an item: the body of PATCH /v1/library/{item}.
package struct LibraryChange: APIModel {
    package var pinned: Bool?
    package var labels: [String]?

    package init() {}

    package static let schema = Schema.request(
        "LibraryChange",
        [
            Field("pinned", .bool, "Whether it is never deleted to make room."),
            Field(
                "labels",
                .list(of: .string(0...300), 0...16),
                "Labels to set, as `NAME=VALUE`; `NAME=` removes one. Others stay."
            ),
        ]
    )
}

/// The part of a recording that a clip has: the query of GET /v1/library/{item}/clip.
package struct ClipQuery: APIModel {
    package var start = 0.0
    package var end: Double?

    package init() {}

    package static let schema = Schema.request(
        nil,
        [
            Field("start", .number(0...10_000_000).default(0), "The beginning of the clip, in s from the item's."),
            Field(
                "end",
                .number(0...10_000_000),
                "The end of the clip, likewise. It may be in a later file of the recording. Default: the item's end."
            ),
        ]
    )
}

/// The query of GET /v1/library/changes.
package struct LibraryChangesQuery: APIModel {
    package var since: String?

    package init() {}

    package static let schema = Schema.request(
        nil,
        [Field("since", .string(0...100), "The `mark` of the call before. Default: only the mark is returned.")]
    )
}

/// The query of GET /v1/library/db.
package struct CatalogueQuery: APIModel {
    package var since: String?

    package init() {}

    package static let schema = Schema.request(
        nil,
        [
            Field(
                "since",
                .string(0...100),
                "The mark of a former copy: only what changed since then is in the database, or everything if that was too "
                    + "long ago. Default: everything."
            )
        ]
    )
}

/// The items of a playlist: the body of PUT /v1/library/playlists/{playlist}.
package struct PlaylistRequest: APIModel {
    package var items: [Int] = []

    package init() {}

    package static let schema = Schema.request(
        "PlaylistRequest",
        [
            Field(
                "items",
                .list(of: .integer(1...9_007_199_254_740_992), 0...10_000),
                "The ids, in order.",
                isRequired: true
            )
        ]
    )
}
