package import HeliographAPI
package import NIOCore
import Wire

/// One device: what is captured, by which agent, and how much of it may be asked for.
package struct DeviceConfiguration: Sendable, Equatable, CustomStringConvertible {
    /// The device of a relay that is told of none.
    package static let defaultName = "default"

    /// 1 to 64 letters, digits, `-` and `_`.
    package let name: String
    /// What a broadcast captures when its start names no source.
    package var source = SourceRequest(kind: .portal)
    /// What its standby captures; nil where the source decides.
    package var fallback: Fallback?
    /// The `capture-agent` to start; nil looks beside the relay's own executable, then in PATH.
    package var agentExecutable: String?
    /// What the agent's environment has over the relay's own. The link token is not among it. The values may be secrets.
    package var environment: [String: String] = [:]
    /// Where the agent keeps the portal's restore token; nil for the agent's own choice.
    package var stateDirectory: String?
    /// How long a person has to answer the desktop's dialog; nil for the agent's own choice.
    package var consentTimeout: TimeAmount?
    /// The program that takes screenshots, and its arguments; nil for what the desktop offers.
    package var screenshotCommand: [String]?
    /// How long it may take for one; nil for the agent's own choice.
    package var screenshotTimeout: TimeAmount?
    /// Most sessions at a time.
    package var maximumSessions = 8
    /// Most viewers of one session.
    package var maximumViewers = 256

    package init(name: String) { self.name = name }

    package init() { self.init(name: Self.defaultName) }

    /// Without the environment, whoever prints it.
    package var description: String { "device \(name)" }
}

/// What a device's standby captures.
package enum Fallback: Sendable, Equatable {
    /// There is no standby.
    case nothing
    case source(SourceRequest)
}

extension DeviceConfiguration {
    /// What a standby is to capture beside a broadcast of `source`, nil where there is to be none.
    ///
    /// Without a word of the configuration: screenshots beside a desktop's screencast, of the same monitor and with the same pointer, and
    /// beside a node where the device has a command for them: what else there is to photograph need not be what the node shows.
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
