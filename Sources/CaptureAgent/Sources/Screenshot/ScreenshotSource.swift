import Glibc
package import Wire

/// The screen by one screenshot after the other, as long as a session wants pictures: for desktops without a screencast, and when there
/// is none to be had.
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
                try loop.takeShot(stop: stop)
            } else {
                try backend.processEvents()
            }
        }
    }
}

/// What screenshots are taken of, and how the pointer is to be.
package struct ScreenshotTarget: Sendable, Equatable {
    /// The monitor's name, such as `DP-1`; the first one when nil.
    package var output: String?
    package var cursor: CursorDrawing
    /// What takes the screenshots, whatever the desktop; nil for what that offers.
    package var command: ScreenshotCommand?

    package init(output: String? = nil, cursor: CursorDrawing = .embedded, command: ScreenshotCommand? = nil) {
        self.output = output
        self.cursor = cursor
        self.command = command
    }

    /// Opens the command where there is one, else what the desktop offers: that of its Wayland compositor, else of its X server.
    func open() throws(SourceError) -> any ScreenshotBackend {
        if let command { return CommandBackend(command) }
        switch (Self.isSet("WAYLAND_DISPLAY"), Self.isSet("DISPLAY")) {
        case (true, _):
            // An X server beside a Wayland compositor shows its own windows at most.
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

    private static func isSet(_ variable: String) -> Bool {
        getenv(variable).map { $0.pointee != 0 } ?? false
    }
}
