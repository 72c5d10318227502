/// The answer to a wait for a session's screen.
package struct ScreenWaitReport: APIModel {
    /// The result of a wait.
    package enum Outcome: String, Sendable, CaseIterable {
        case happened, timeout, ended
        case sourceLost = "source_lost"
    }

    package var id: UInt32 = 0
    package var device = ""
    package var name: String?
    package var until = ""
    package var outcome = ""
    package var pts: Int64?
    package var at: String?
    package var box: Box?
    package var staticMs: Double?
    package var waitedMs = 0.0
    package var feed = ""
    package var snapshot = ""

    package init() {}

    package static let schema = Schema.report(
        "ScreenWait",
        [
            Field("id", .count(from: 1), "The session."), Field("device", .text), Field("name", .text.orNull),
            Field("until", .words(ScreenWait.Goal.self)),
            Field(
                "outcome",
                .words(Outcome.self),
                """
                It `happened`; it did not in time (`timeout`), nor could it, because no source delivered by then, or no \
                sound was captured (`source_lost`); or the session has `ended`, or no longer has that part of the screen.
                """
            ),
            Field("pts", .anyInteger.orNull, "Since when: of the frame or the sound, on the session's clock, µs."),
            Field(
                "at",
                .date.orNull,
                "When that was captured; when the relay had its picture, if no pixels were compared."
            ),
            Field(
                "box",
                Box.schema.orNull,
                "What changed last, or where the template is; null if no pixels were compared."
            ),
            Field("staticMs", .figure.orNull, "From then to the answer, ms."),
            Field("waitedMs", .figure, "From the call to the answer, ms."),
            Field("feed", .feed, "The session's by now."),
            Field("snapshot", .text, "Where a picture of the screen is."),
        ]
    )

    package struct Box: APIModel {
        package var x = 0
        package var y = 0
        package var width = 0
        package var height = 0

        package init() {}

        package static let schema = Schema.report(
            "Box",
            "A part of the snapshot, in its pixels.",
            [
                Field("x", .count), Field("y", .count), Field("width", .count(from: 1)),
                Field("height", .count(from: 1)),
            ]
        )
    }
}

/// A template that was uploaded.
package struct TemplateReport: APIModel {
    package var device = ""
    package var name = ""
    package var width = 0
    package var height = 0
    package var bytes = 0

    package init() {}

    package static let schema = Schema.report(
        "Template",
        [
            Field("device", .text), Field("name", .text), Field("width", .count(from: 1), "Pixels."),
            Field("height", .count(from: 1), "Pixels."), Field("bytes", .count(from: 1), "The file's size."),
        ]
    )
}

/// A device's templates.
package struct TemplateList: APIModel {
    package var templates: [TemplateReport] = []

    package init() {}
    package init(_ templates: [TemplateReport]) { self.templates = templates }

    package static let schema = Schema.report(
        "TemplateList",
        [Field("templates", .array(of: TemplateReport.schema), "In the order of their names.")]
    )
}

package struct DeletedTemplate: APIModel {
    package var deleted = false

    package init() {}

    package static let schema = Schema.report("DeletedTemplate", [Field("deleted", .bool, "Whether there was one.")])
}
