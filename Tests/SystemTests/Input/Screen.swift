import TestSupport

extension SystemTests {
    /// A desktop on which tests act, and how it is captured.
    enum Screen: String, CaseIterable {
        case sway, xvfb, mutter

        var compositor: Desktop.Compositor {
            switch self {
            case .sway: .sway
            case .xvfb: .xvfb
            case .mutter: .mutter
            }
        }

        var source: String { self == .mutter ? "mutter" : "screenshot" }
        /// The backend that the agent must choose.
        var backend: String { self == .sway ? "wlroots" : self == .xvfb ? "x11" : "mutter" }
    }
}
