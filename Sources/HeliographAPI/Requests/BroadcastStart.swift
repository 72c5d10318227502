/// The body of POST /screencapture/broadcast/start.
package struct BroadcastStart: APIModel {
    package var device: String?
    package var timeout = 15.0
    package var source: SourceRequest?
    package var ttl: Int?

    package init() {}

    package static let schema = Schema.request(
        "BroadcastStart",
        [
            Field("device", .device),
            Field("timeout", .number(0.1...120).default(15), "How long the start may take, s."),
            Field("source", SourceRequest.schema),
            Field(
                "ttl",
                .lifetime,
                """
                Seconds without a session after which the broadcast ends itself. Default: never. Of several starts the \
                longest counts.
                """
            ),
        ]
    )
}
