import Program
import Wire

/// The choice of a clipboard for the desktop that a source captures: the same desktop as ``InputBackendChoice``'s.
package struct ClipboardBackendChoice: ClipboardAccess {
    private enum Backend {
        case mutter
        case wlroots
        case x11
        /// No backend, with the reason and what to do.
        case none(String)
    }

    private let source: AgentConfiguration.Source

    package init(_ source: AgentConfiguration.Source) { self.source = source }

    package func problem() -> String? {
        if case .none(let problem) = backend { problem } else { nil }
    }

    package func open() throws(ClipboardFailure) -> any ClipboardBackend {
        switch backend {
        case .mutter: return try MutterClipboard()
        case .wlroots: return try WlrootsClipboard()
        case .x11: return try X11Clipboard()
        case .none(let problem): throw .refused(.noBackend, problem)
        }
    }

    private var backend: Backend {
        switch source {
        case .testPattern: .none("The test pattern has no clipboard. Capture a desktop.")
        case .node:
            .none(
                "A PipeWire node does not say which desktop it shows. To use the desktop's clipboard, capture it with "
                    + "another source."
            )
        case .auto(.window, _), .portal(.window, _), .mutter(.focusedWindow, _):
            .none(
                "A captured window has no clipboard of its own. To use the desktop's clipboard, capture a monitor."
            )
        case .mutter: .mutter
        case .auto, .portal, .screenshot: backendOfEnvironment
        }
    }

    private var backendOfEnvironment: Backend {
        if EnvironmentVariable.isSet("WAYLAND_DISPLAY") {
            do throws(SourceError) {
                if try WlrootsClipboard.isAvailable() { return .wlroots }
            } catch {
                return .none(error.detail)
            }
            return MutterRemoteDesktop.isAvailable()
                ? .mutter
                : .none(
                    "The Wayland compositor offers neither data control (zwlr_data_control_manager_v1, as those of wlroots "
                        + "do) nor Mutter's remote desktop. Run sway, GNOME or an X server."
                )
        }
        if case .auto = source, MutterRemoteDesktop.isAvailable() { return .mutter }
        return EnvironmentVariable.isSet("DISPLAY")
            ? .x11
            : .none(
                "There is no desktop with a clipboard: neither WAYLAND_DISPLAY nor DISPLAY is set. Start the agent inside "
                    + "the desktop's session."
            )
    }
}
