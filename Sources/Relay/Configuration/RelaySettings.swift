package import Logging
package import NIOCore

/// What one place says, the flags or the configuration file; nil where it says nothing.
package struct RelaySettings: Sendable, Equatable {
    package var http: Endpoint?
    package var agentLink: Endpoint?
    package var sessionPortBase: Int?
    package var maximumSessions: Int?
    package var maximumViewers: Int?
    package var agentExecutable: String?
    package var source: SourceRequest?
    package var fallback: Fallback?
    package var linkTokenFile: String?
    package var stateFile: String?
    package var watchdog: TimeAmount?
    package var helloTimeout: TimeAmount?
    package var agentReturnGrace: TimeAmount?
    package var slateDelay: TimeAmount?
    package var portsFile: String?
    package var printsPorts: Bool?
    package var logLevel: Logger.Level?
    package var devices: [DeviceSettings]?

    /// Stands for no state file.
    package static let noStateFile = "none"

    package init() {}

    /// These settings, and `others` where these say nothing.
    package func over(_ others: RelaySettings) -> RelaySettings {
        var settings = others
        func put<Value>(_ field: WritableKeyPath<RelaySettings, Value?>) {
            if let value = self[keyPath: field] { settings[keyPath: field] = value }
        }
        put(\.http)
        put(\.agentLink)
        put(\.sessionPortBase)
        put(\.maximumSessions)
        put(\.maximumViewers)
        put(\.agentExecutable)
        put(\.source)
        put(\.fallback)
        put(\.linkTokenFile)
        put(\.stateFile)
        put(\.watchdog)
        put(\.helloTimeout)
        put(\.agentReturnGrace)
        put(\.slateDelay)
        put(\.portsFile)
        put(\.printsPorts)
        put(\.logLevel)
        put(\.devices)
        return settings
    }
}

/// What is said of one device; nil where the relay's settings for all devices count.
package struct DeviceSettings: Sendable, Equatable, CustomStringConvertible {
    package let name: String
    package var source: SourceRequest?
    package var fallback: Fallback?
    package var agentExecutable: String?
    package var environment: [String: String] = [:]
    package var stateDirectory: String?
    package var consentTimeout: TimeAmount?
    package var screenshotCommand: [String]?
    package var screenshotTimeout: TimeAmount?
    package var maximumSessions: Int?
    package var maximumViewers: Int?

    package init(name: String) { self.name = name }

    /// Without the environment, whoever prints it.
    package var description: String { "device \(name)" }
}
