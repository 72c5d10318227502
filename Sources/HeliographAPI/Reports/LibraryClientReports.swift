/// A client of the library's channel, and what it plays.
package struct LibraryClientReport: APIModel, Equatable {
    package var client = ""
    package var name: String?
    package var key: String?
    package var state = ""
    package var item: Int?
    package var position = 0.0
    package var seconds = 0.0
    package var next: Int?
    package var place = 0
    package var length = 0
    package var volume = 1.0
    package var shuffle = false

    package init() {}

    package static let schema = Schema.report(
        "LibraryClient",
        "A client of the library's channel, and what it plays.",
        [
            Field("client", .text, "The relay's name for it; another after each connection."),
            Field("name", .text.orNull, "The name that it has given itself; null for none."),
            Field("key", .text.orNull, "The name of its key; null without keys."),
            Field("state", .text, "`playing`, `paused` or `stopped`."),
            Field(
                "item",
                .anyInteger.orNull,
                "What it plays; null for nothing, or an item that the caller may not see."
            ),
            Field("position", .figure, "The position in the item, s."),
            Field("seconds", .figure, "The item's length, s."),
            Field(
                "next",
                .anyInteger.orNull,
                "The next item of its queue; null for none, or one that the caller may not see."
            ),
            Field("place", .anyInteger, "The item's place in the queue, from 0."),
            Field("length", .anyInteger, "How many items the queue has."),
            Field("volume", .figure, "From 0 to 1."),
            Field("shuffle", .bool, "Whether the queue is played in a random order."),
        ]
    )
}

/// The clients of the library's channel.
package struct LibraryClients: APIModel {
    package var clients: [LibraryClientReport] = []

    package init() {}

    package static let schema = Schema.report(
        "LibraryClients",
        [Field("clients", .array(of: LibraryClientReport.schema), "In the order in which they connected.")]
    )
}
