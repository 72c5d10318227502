import Program
package import Wire

/// A source that takes one screenshot after another while a session wants pictures. For desktops without a working
/// screencast.
struct ScreenshotSource: FrameSource {
    let kind = "screenshot"
    let target: ScreenshotTarget

    func run(into sink: any FrameSink, demand: SourceDemand, stop: Event) throws(SourceError) {
        let demandChanged = try SourceError.explainingShortage { () throws(ResourceShortage) in try Event() }
        let backend = try target.open()
        defer { backend.close() }
        sink.sourceChanged(SourceStatus(state: .opening, kind: backend.kind))
        demand.observe { _ in demandChanged.set() }
        defer { demand.observe(nil) }
        var loop = ShotLoop(backend: backend, sink: sink)
        try loop.open(stop: stop)
        while !stop.isSet {
            demandChanged.clear()
            loop.follow(demand.value)
            if loop.waitForShot(or: [stop, demandChanged]) {
                try loop.takeShot(stop: stop, demandChanged: demandChanged)
            } else {
                try backend.processEvents()
            }
        }
    }
}

/// What to take screenshots of, and whether to include the pointer.
package struct ScreenshotTarget: Sendable, Equatable {
    /// The monitor's name, such as `DP-1`; `nil` for the first one.
    package var output: String?
    package var cursor: CursorDrawing
    /// The command that takes the screenshots on any desktop; `nil` to use what the desktop offers.
    package var command: ScreenshotCommand?

    package init(output: String? = nil, cursor: CursorDrawing = .embedded, command: ScreenshotCommand? = nil) {
        self.output = output
        self.cursor = cursor
        self.command = command
    }

    /// Opens the command if there is one, otherwise the desktop's Wayland compositor, otherwise its X server.
    func open() throws(SourceError) -> any ScreenshotBackend {
        if let command { return CommandBackend(command) }
        switch (EnvironmentVariable.isSet("WAYLAND_DISPLAY"), EnvironmentVariable.isSet("DISPLAY")) {
        case (true, _):
            // An X server that runs under a Wayland compositor shows at most its own windows.
            return try ScreencopyBackend(output: output, cursor: cursor)
        case (false, true):
            return try X11Backend(output: output, cursor: cursor)
        case (false, false):
            throw .unavailable(
                cause: "screenshot_unavailable",
                detail: "There is no desktop to take screenshots of: neither WAYLAND_DISPLAY nor DISPLAY is set. "
                    + "Start the agent inside the desktop's session, or give it a command that takes them."
            )
        }
    }
}
