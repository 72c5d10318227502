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

    /// Opens the first backend that the desktop offers.
    func open() throws(SourceError) -> any ScreenshotBackend {
        guard Self.isSet("WAYLAND_DISPLAY") else {
            throw .unavailable(
                cause: "screenshot_unavailable",
                detail: "There is no desktop to take screenshots of: WAYLAND_DISPLAY is not set."
            )
        }
        return try ScreencopyBackend(output: output, cursor: cursor)
    }

    private static func isSet(_ variable: String) -> Bool {
        getenv(variable).map { $0.pointee != 0 } ?? false
    }
}
