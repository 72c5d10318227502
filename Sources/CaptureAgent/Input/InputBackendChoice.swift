import Glibc
package import Wire

/// The choice of a backend for the desktop that a source captures.
package struct InputBackendChoice: InputAccess {
    private enum Backend: Sendable {
        case mutter
        case wlroots
        case x11
        /// No backend, with the reason and what to do.
        case none(String)
    }

    private let source: AgentConfiguration.Source

    package init(_ source: AgentConfiguration.Source) { self.source = source }

    package func capabilities() -> InputCapabilities {
        switch backend {
        // The devices of Mutter's session are known once there is one.
        case .mutter: MutterInput.capabilities(of: MutterRemoteDesktop.Device.all)
        case .wlroots: WlrootsInput.capabilities
        case .x11: X11Input.capabilities
        case .none(let problem): InputCapabilities(backend: InputCapabilities.none, problem: problem)
        }
    }

    package func open() throws(InputFailure) -> any InputBackend {
        switch backend {
        case .wlroots: return try WlrootsInput(output: output)
        case .mutter: return try MutterInput(screen: mutterScreen)
        case .x11: return try X11Input(output: output)
        case .none(let problem): throw .lost(problem)
        }
    }

    package func startGuard() throws(InputFailure) -> (any InputGuarding)? {
        switch backend {
        case .wlroots, .mutter: try InputGuard(endsAgent: true)
        // A release by any client counts.
        case .x11: try InputGuard(endsAgent: false)
        case .none: nil
        }
    }

    /// What the source shows of Mutter's desktop.
    private var mutterScreen: MutterSource.Screen {
        if case .mutter(let screen, _) = source { screen } else { .monitor(output) }
    }

    /// The name of the captured monitor, if the source names one.
    private var output: String? {
        if case .screenshot(let target) = source { target.output } else { nil }
    }

    private var backend: Backend {
        switch source {
        case .testPattern: return .none("The test pattern takes no input. Capture a desktop.")
        case .node:
            return .none(
                "A PipeWire node does not say which desktop it shows. To act on a desktop, capture it with another source."
            )
        case .auto(.window, _), .portal(.window, _), .mutter(.focusedWindow, _):
            return .none(
                "The place of a captured window on the desktop is unknown. To act on the desktop, capture a monitor."
            )
        case .mutter: return .mutter
        case .auto, .portal, .screenshot: return backendOfEnvironment
        }
    }

    private var backendOfEnvironment: Backend {
        if Self.isSet("WAYLAND_DISPLAY") {
            // An X server that runs under a Wayland compositor takes input for its own windows only.
            do throws(SourceError) {
                if try WlrootsInput.isAvailable() { return .wlroots }
            } catch {
                return .none(error.detail)
            }
            return MutterScreenCast.isAvailable()
                ? .mutter
                : .none(
                    "The Wayland compositor offers neither virtual devices (zwlr_virtual_pointer_manager_v1, version 2, and "
                        + "zwp_virtual_keyboard_manager_v1, as those of wlroots do) nor Mutter's remote desktop. "
                        + "Run sway, GNOME or an X server."
                )
        }
        if case .auto = source, MutterScreenCast.isAvailable() { return .mutter }
        guard Self.isSet("DISPLAY") else {
            return .none(
                "There is no desktop to act on: neither WAYLAND_DISPLAY nor DISPLAY is set. Start the agent inside the "
                    + "desktop's session."
            )
        }
        do throws(SourceError) {
            try X11Connection.forInput().close()
            return .x11
        } catch {
            return .none(error.detail)
        }
    }

    private static func isSet(_ variable: String) -> Bool {
        getenv(variable).map { $0.pointee != 0 } ?? false
    }
}
