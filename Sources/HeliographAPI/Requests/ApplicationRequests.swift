/// What a caller launches: the body of POST /v1/devices/{device}/applications.
///
/// It has exactly one of ``name`` and ``desktopFile``.
package struct LaunchRequest: APIModel {
    package var name: String?
    package var desktopFile: String?
    package var arguments: [String]?
    package var wait = false
    /// s.
    package var timeout = 10.0
    package var take = false

    package init() {}

    /// The longest time that a launch waits for a window, s.
    package static let longestWait = 60.0

    package static let schema = Schema.request(
        "Launch",
        "Exactly one of `name` and `desktopFile`.",
        [
            Field("name", .shortName, "The name of an application of the device's configuration."),
            Field(
                "desktopFile",
                .string(1...255),
                "The id of a desktop file, such as `org.gnome.Calculator`, if the configuration allows them."
            ),
            Field(
                "arguments",
                .list(of: .string(0...1024), 0...32),
                "Arguments after those of the configuration, if that allows them. Default: none."
            ),
            Field("wait", .bool.default(false), "Whether to answer only when it has a window."),
            Field("timeout", .number(0.1...60).default(10), "How long to wait for its window, s."),
            takeField,
        ]
    )

    fileprivate static let takeField = Field(
        "take",
        .bool.default(false),
        "Whether to take over a device that another caller controls."
    )
}

/// The body of POST …/applications/{application}/focus.
package struct FocusRequest: APIModel {
    package var take = false

    package init() {}

    package static let schema = Schema.request("Focus", [LaunchRequest.takeField])
}

/// The query of DELETE …/applications/{application}.
package struct TerminateQuery: APIModel {
    package var take = false

    package init() {}

    package static let schema = Schema.request(nil, [LaunchRequest.takeField])
}
