package import Media
package import Wire

/// The settings that a capture agent is started with.
package struct AgentConfiguration: Sendable {
    package enum Source: Sendable, Equatable {
        /// Mutter if the desktop is GNOME, otherwise the portal.
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
    /// How the agent acts on the desktop.
    package var input = InputChoice.auto
    /// The sound that it captures, and how it is encoded.
    package var sound = SoundChoice.off
    package var soundCoding = SoundCoding()
    /// Whether it makes a microphone for callers that speak.
    package var hasMicrophone = false
    /// The link token.
    package var token: String
    /// The directory for the portal's restore token.
    package var stateDirectory: String
    /// How long a person may take to answer the desktop's dialog, in seconds.
    package var consentTimeout: Double
    /// How long the relay may be away before the agent ends, in seconds.
    package var relayAbsence: Double
    /// How long a standby's source may be lost before the standby shows a slate, in seconds.
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
