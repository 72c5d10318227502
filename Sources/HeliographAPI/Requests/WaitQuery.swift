/// The query of GET /screencapture/{id}/wait.
package struct WaitQuery: APIModel {
    package enum Goal: String, Sendable, Codable, CaseIterable {
        case changed, `static`
    }

    package var until = Goal.changed
    package var timeout = 30.0
    package var `for`: Double?
    package var after: Int64?

    package init() {}

    /// How long the screen must be unchanged, s.
    package var staticTime: Double { `for` ?? (until == .static ? 1 : 0) }

    package static let schema = Schema.request(
        nil,
        [
            Field(
                "until",
                .words(Goal.self),
                """
                `changed`: the screen changes, and is then unchanged for the time `for`. `static`: it is unchanged for the \
                time `for`, which may have begun before the call.
                """,
                isRequired: true
            ),
            Field(
                "timeout",
                .number(0...600).default(30),
                "How long to wait, s."
            ),
            Field(
                "for",
                .number(0...600),
                "How long the screen must be unchanged, s. Default: 1 with `static`, 0 with `changed`."
            ),
            Field(
                "after",
                .integer(0...Int.max),
                """
                The PTS of a picture, µs. Only pictures after it count, also those from before the call. Default: with \
                `changed`, the time of the call.
                """
            ),
        ]
    )
}
