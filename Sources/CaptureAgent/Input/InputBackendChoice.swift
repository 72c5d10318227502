package import Media
import Program
package import Wire

/// The choice of a backend for the desktop that a source captures. A portal's is ``PortalConsent``.
package struct InputBackendChoice: InputAccess {
    private enum Backend: Sendable {
        case mutter
        case wlroots
        case x11
        case uinput
        /// No backend, with the reason and what to do.
        case none(String)
    }

    private static let off = "Acting is off here: the device's input is off."

    private let source: AgentConfiguration.Source
    private let choice: InputChoice
    private let role: AgentRole
    /// `nil` if the monitor keeps its size.
    private let resizing: MonitorResizing?

    /// - Parameters:
    ///   - choice: The way that the operator has chosen.
    ///   - role: The agent's role.
    ///   - screen: What shows the monitor's size, which can then change.
    package init(
        _ source: AgentConfiguration.Source,
        _ choice: InputChoice = .auto,
        role: AgentRole = .primary,
        screen: Screen? = nil
    ) {
        (self.source, self.choice, self.role) = (source, choice, role)
        resizing = screen.map { MonitorResizing(source: source, screen: $0) }
    }

    package var canResize: Bool { choice != .off && resizing?.isPossible == true }

    package func resize(to size: PictureSize, stop: Event) throws(InputFailure) {
        if let refusal = refusal() { throw .unsupported(refusal) }
        guard let resizing else { throw MonitorResizing.impossible }
        try resizing.resize(to: size, stop: stop)
    }

    /// Whether the portal is asked.
    package var isPortal: Bool { choice == .portal && role == .primary && objection == nil }

    package func capabilities() -> InputCapabilities {
        switch backend {
        // The devices of Mutter's session are known once there is one.
        case .mutter: MutterInput.capabilities(of: MutterRemoteDesktop.Device.all)
        case .wlroots: WlrootsInput.capabilities
        case .x11: X11Input.capabilities
        case .uinput: UinputInput.capabilities
        case .none(let problem): InputCapabilities(backend: InputCapabilities.none, problem: problem)
        }
    }

    package func refusal() -> String? { choice == .off ? Self.off : nil }

    package func open() throws(InputFailure) -> any InputBackend {
        switch backend {
        case .wlroots: return try WlrootsInput(output: output)
        case .mutter: return try MutterInput(screen: mutterScreen)
        case .x11: return try X11Input(output: output)
        case .uinput: return try UinputInput(keymap: DesktopKeymap.ofEnvironment())
        case .none(let problem): throw .lost(problem)
        }
    }

    /// What the source shows of Mutter's desktop.
    private var mutterScreen: MutterSource.Screen {
        switch source {
        // Its size may have changed.
        case .mutter(.virtual(let size), _): .virtual(resizing?.screen.sourceSize ?? size)
        case .mutter(let screen, _): screen
        case .auto, .portal, .node, .screenshot, .testPattern: .monitor(output)
        }
    }

    /// The name of the captured monitor, if the source names one.
    private var output: String? {
        if case .screenshot(let target) = source { target.output } else { nil }
    }

    private var backend: Backend {
        if let objection { return .none(objection) }
        switch choice {
        case .off: return .none(Self.off)
        case .portal:
            return .none(
                "A standby does not act through the desktop's portal, because a person would have to agree to it, too."
            )
        case .uinput:
            if let problem = UinputInput.problem { return .none(problem) }
            return .uinput
        case .auto:
            if case .mutter = source { return .mutter }
            return backendOfEnvironment
        }
    }

    /// Why nothing can act on what the source captures, and what to do; `nil` if something may.
    private var objection: String? {
        switch source {
        case .testPattern: "The test pattern takes no input. Capture a desktop."
        case .node where choice == .auto:
            "A PipeWire node does not say which desktop it shows. To act on a desktop, capture it with another source."
        case .auto(.window, _), .portal(.window, _), .mutter(.focusedWindow, _):
            "The place of a captured window on the desktop is unknown. To act on the desktop, capture a monitor."
        case .auto, .portal, .mutter, .screenshot, .node: nil
        }
    }

    private var backendOfEnvironment: Backend {
        if EnvironmentVariable.isSet("WAYLAND_DISPLAY") {
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
                        + "Run sway, GNOME or an X server, or set the device's input to portal or uinput."
                )
        }
        if case .auto = source, MutterScreenCast.isAvailable() { return .mutter }
        guard EnvironmentVariable.isSet("DISPLAY") else {
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
}
