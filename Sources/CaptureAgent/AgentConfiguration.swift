package import Media
package import Wire

/// What a capture agent is started with.
package struct AgentConfiguration: Sendable {
    package enum Source: Sendable, Equatable {
        /// Mutter where the desktop is GNOME's, else the portal.
        case auto(ScreenContent, cursor: CursorDrawing)
        case portal(ScreenContent, cursor: CursorDrawing)
        case mutter(MutterSource.Screen, cursor: CursorDrawing)
        /// A PipeWire node by name, serial or id.
        case node(String)
        case screenshot(ScreenshotTarget)
        /// The synthetic screen at `fps` frames per second, 1 to 240.
        case testPattern(PictureSize, fps: Int)
    }

    /// The relay's numeric IPv4 address.
    package var relayHost: String
    package var relayPort: UInt16
    package var device: String
    package var role: AgentRole
    package var source: Source
    /// The link token.
    package var token: String
    /// Where the portal's restore token is kept.
    package var stateDirectory: String
    /// How long a person has to answer the desktop's dialog, s.
    package var consentTimeout: Double
    /// How long the relay may be away before the agent ends itself, s.
    package var relayAbsence: Double
    /// How long a standby's source may be lost before it shows a slate, s.
    package var slateDelay = 5.0

    package init(
        relayHost: String,
        relayPort: UInt16,
        device: String,
        role: AgentRole = .primary,
        source: Source,
        token: String,
        stateDirectory: String,
        consentTimeout: Double,
        relayAbsence: Double
    ) {
        self.relayHost = relayHost
        self.relayPort = relayPort
        self.device = device
        self.role = role
        self.source = source
        self.token = token
        self.stateDirectory = stateDirectory
        self.consentTimeout = consentTimeout
        self.relayAbsence = relayAbsence
    }
}
