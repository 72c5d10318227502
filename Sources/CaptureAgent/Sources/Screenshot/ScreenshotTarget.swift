import Glibc

/// What screenshots are taken of, and how the pointer is to be.
package struct ScreenshotTarget: Sendable, Equatable {
    /// The monitor's name, such as `DP-1`; the first one when nil.
    package var output: String?
    package var cursor: CursorDrawing

    package init(output: String? = nil, cursor: CursorDrawing = .embedded) {
        self.output = output
        self.cursor = cursor
    }

    /// Opens what the desktop offers: that of its Wayland compositor, else of its X server.
    func open() throws(SourceError) -> any ScreenshotBackend {
        switch (Self.isSet("WAYLAND_DISPLAY"), Self.isSet("DISPLAY")) {
        case (true, _):
            // An X server beside a Wayland compositor shows its own windows at most.
            return try ScreencopyBackend(output: output, cursor: cursor)
        case (false, true):
            return try X11Backend(output: output, cursor: cursor)
        case (false, false):
            throw .unavailable(
                cause: "screenshot_unavailable",
                detail: "There is no desktop to take screenshots of: neither WAYLAND_DISPLAY nor DISPLAY is set."
            )
        }
    }

    private static func isSet(_ variable: String) -> Bool {
        getenv(variable).map { $0.pointee != 0 } ?? false
    }
}
