/// An application that was launched on a device.
package struct ApplicationReport: APIModel, Equatable {
    package var device = ""
    package var id = ""
    package var name = ""
    package var running = false
    package var started = ""
    package var pid: Int?
    package var exitStatus: Int?
    package var signal: Int?

    package init() {}

    package static let schema = Schema.report(
        "Application",
        [
            Field("device", .text),
            Field("id", .text, "For its address. No other application has it, on this relay or another."),
            Field("name", .text, "Its name in the configuration, or the id of its desktop file."),
            Field("running", .bool, "Whether one of its processes runs."),
            Field("started", .date),
            Field("pid", .anyInteger.orNull, "The process that was started; null if it is not known."),
            Field(
                "exitStatus",
                .anyInteger.orNull,
                "How that process exited; null if it runs, was ended by a signal, or the agent that started it is gone."
            ),
            Field("signal", .anyInteger.orNull, "The signal that ended that process; null as above."),
        ]
    )
}

/// What was launched on a device, and what may be launched.
package struct ApplicationList: APIModel {
    package var applications: [ApplicationReport] = []
    package var launchable: [String] = []
    package var desktopFiles = false

    package init() {}

    package static let schema = Schema.report(
        "ApplicationList",
        [
            Field(
                "applications",
                .array(of: ApplicationReport.schema),
                "The oldest first. The last 32 that have ended are still listed."
            ),
            Field(
                "launchable",
                .array(of: .text),
                "The names in the device's configuration, sorted; none if its `input` is `off`."
            ),
            Field("desktopFiles", .bool, "Whether desktop files may be launched."),
        ]
    )
}
