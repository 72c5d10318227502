import Program
package import Wire

/// A window on the desktop.
package struct DesktopWindow: Sendable, Equatable {
    /// The desktop's id of it.
    package let id: Int
    /// The process whose window it is.
    package let pid: Int32

    package init(id: Int, pid: Int32) {
        self.id = id
        self.pid = pid
    }
}

/// A connection to a desktop that says which windows it has.
package protocol DesktopWindows {
    /// Returns the windows, the oldest first.
    func windows() throws(WindowFailure) -> [DesktopWindow]

    /// Gives a window the keyboard, and returns when the desktop has done so.
    func focus(_ window: DesktopWindow) throws(WindowFailure)

    /// Ends the connection. Must be called once.
    func close()
}

/// Why nothing came of a call about windows.
package struct WindowFailure: Error {
    package let refusal: ApplicationAnswer.Refusal
    /// The reason and what to do, for people.
    package let detail: String

    package init(_ refusal: ApplicationAnswer.Refusal, _ detail: String) {
        self.refusal = refusal
        self.detail = detail
    }
}

/// The choice of how to ask the desktop that a source captures about its windows.
package struct WindowsChoice: Sendable {
    private let source: AgentConfiguration.Source

    package init(_ source: AgentConfiguration.Source) { self.source = source }

    /// Connects to the desktop.
    package func open() throws(WindowFailure) -> any DesktopWindows {
        if case .mutter = source { throw Self.mutter }
        if EnvironmentVariable.isSet("WAYLAND_DISPLAY") {
            if let sway = try SwayWindows() { return sway }
            if MutterScreenCast.isAvailable() { throw Self.mutter }
            throw WindowFailure(
                .noWindowControl,
                "The Wayland compositor does not say which windows it has. Run sway or an X server, or wait for what the "
                    + "application shows."
            )
        }
        guard EnvironmentVariable.isSet("DISPLAY") else {
            throw WindowFailure(
                .noWindowControl,
                "There is no desktop with windows: neither WAYLAND_DISPLAY nor DISPLAY is set. Start the agent inside the "
                    + "desktop's session."
            )
        }
        return try X11Windows()
    }

    private static let mutter = WindowFailure(
        .noWindowControl,
        "GNOME (Mutter) does not say which windows it has. Wait for what the application shows, and click on it."
    )
}
