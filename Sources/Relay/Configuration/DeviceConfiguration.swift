package import HeliographAPI
package import NIOCore
package import Wire

/// One device: what is captured, by which agent, and the limits on its use.
package struct DeviceConfiguration: Sendable, Equatable, CustomStringConvertible {
    /// The device of a relay without configured devices.
    package static let defaultName = "default"

    /// The name: 1 to 64 letters, digits, `-` and `_`.
    package let name: String
    /// What people call it or sort it by.
    package var labels: [String: String] = [:]
    /// The source of a broadcast whose start names none.
    package var source = SourceRequest(kind: .auto)
    /// The source of its standby; `nil` if it follows from the broadcast's source.
    package var fallback: Fallback?
    /// The `capture-agent` to start; `nil` looks beside the relay's own executable, then in PATH.
    package var agentExecutable: String?
    /// Variables that override the relay's environment for the agent, except the link token. The values may be secrets.
    package var environment: [String: String] = [:]
    /// Where the agent keeps the portal's restore token; `nil` for the agent's default.
    package var stateDirectory: String?
    /// How long a person has to answer the desktop's dialog; `nil` for the agent's default.
    package var consentTimeout: TimeAmount?
    /// How the agent acts on the desktop.
    package var input = InputChoice.auto
    /// The sound that its agents capture.
    package var sound = SoundChoice.off
    /// How they encode it.
    package var soundCoding = SoundCoding()
    /// Whether the desktop has a microphone for callers that speak.
    package var hasMicrophone = false
    /// The program that takes screenshots, and its arguments; `nil` for the desktop's own way.
    package var screenshotCommand: [String]?
    /// The time limit for a screenshot; `nil` for the agent's default.
    package var screenshotTimeout: TimeAmount?
    /// Whether the relay starts the broadcast itself, and keeps it running.
    package var isAutostarted = false
    /// The sessions that the relay starts itself, by name.
    package var standingSessions: [String: SessionRequest] = [:]
    /// Whether a viewer's call to the device's own address starts the broadcast and a shared session.
    package var isOnDemand = false
    /// Whether its shared session is recorded whenever the device is broadcast.
    package var isRecorded = false
    /// When that session is written.
    package var recordWhen = RecordWhen.always
    /// The codecs of the sound in recordings of its sessions.
    package var recordedSound = RecordedSound.opus
    /// The applications that callers may launch on its desktop, by name.
    package var applications: [String: AllowedApplication] = [:]
    /// Whether callers may also launch the desktop files that are installed there.
    package var allowsDesktopFiles = false
    /// Most sessions at a time.
    package var maximumSessions = 8
    /// Most viewers of one session.
    package var maximumViewers = 256

    package init(name: String) { self.name = name }

    package init() { self.init(name: Self.defaultName) }

    /// A text without the environment, which may hold secrets.
    package var description: String { "device \(name)" }
}

/// An application that callers may launch.
package struct AllowedApplication: Sendable, Equatable {
    /// The program, a path or a name in the agent's PATH, and its arguments.
    package var command: [String]
    /// Its working directory; `nil` for the agent's.
    package var directory: String?
    /// Variables over those of the agent. The values may be secrets.
    package var environment: [String: String]
    /// Whether callers may add arguments.
    package var takesArguments: Bool

    package init(
        command: [String],
        directory: String? = nil,
        environment: [String: String] = [:],
        takesArguments: Bool = false
    ) {
        self.command = command
        self.directory = directory
        self.environment = environment
        self.takesArguments = takesArguments
    }
}

/// The source of a device's standby.
package enum Fallback: Sendable, Equatable {
    /// There is no standby.
    case nothing
    case source(SourceRequest)
}

extension DeviceConfiguration {
    /// Returns the standby's source beside a broadcast of `source`; `nil` for no standby.
    ///
    /// By default a desktop's screencast gets screenshots of the same monitor, with the same pointer. A node gets
    /// screenshots only if the device has a command for them, because the screen need not show what the node shows.
    package func fallback(for source: SourceRequest) -> SourceRequest? {
        switch (fallback, source.kind) {
        case (.nothing, _): return nil
        case (.source(let fallback), _): return fallback
        case (nil, .node) where screenshotCommand != nil: return SourceRequest(kind: .screenshot)
        case (nil, .node), (nil, .screenshot), (nil, .testPattern): return nil
        case (nil, .auto), (nil, .portal), (nil, .mutter):
            var screenshot = SourceRequest(kind: .screenshot)
            screenshot.cursor = source.cursor
            screenshot.output = source.output
            return screenshot
        }
    }
}
