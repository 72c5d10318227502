package import Logging
package import NIOCore

/// What one place says, the flags or the configuration file; nil where it says nothing.
package struct RelaySettings: Sendable, Equatable {
    package var http: Endpoint?
    package var agentLink: Endpoint?
    package var sessionPortBase: Int?
    package var maximumSessions: Int?
    package var maximumViewers: Int?
    package var maximumConnections: Int?
    package var maximumConnectionsPerAddress: Int?
    package var requestTimeout: TimeAmount?
    package var idleTimeout: TimeAmount?
    package var agentExecutable: String?
    package var source: SourceRequest?
    package var fallback: Fallback?
    package var tls: TLSSettings?
    package var keysFile: String?
    package var linkTokenFile: String?
    /// Ids.
    package var agentUsers: [UInt32]?
    package var stateFile: String?
    package var watchdog: TimeAmount?
    package var helloTimeout: TimeAmount?
    package var agentReturnGrace: TimeAmount?
    package var slateDelay: TimeAmount?
    /// 0 for never.
    package var viewerTimeout: TimeAmount?
    /// MiB.
    package var viewerMemory: Int?
    package var portsFile: String?
    package var printsPorts: Bool?
    package var logLevel: Logger.Level?
    package var logFormat: LogFormat?
    package var devices: [DeviceSettings]?
    /// Where each setting is said, by its name: `relay.yaml:3:7`, `HELIOGRAPH_RELAY_HTTP`, `--http`.
    package var places: [String: String] = [:]

    /// Stands for no file where a file has a default.
    package static let noFile = "none"

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
        put(\.maximumConnections)
        put(\.maximumConnectionsPerAddress)
        put(\.requestTimeout)
        put(\.idleTimeout)
        put(\.agentExecutable)
        put(\.source)
        put(\.fallback)
        put(\.tls)
        put(\.keysFile)
        put(\.linkTokenFile)
        put(\.agentUsers)
        put(\.stateFile)
        put(\.watchdog)
        put(\.helloTimeout)
        put(\.agentReturnGrace)
        put(\.slateDelay)
        put(\.viewerTimeout)
        put(\.viewerMemory)
        put(\.portsFile)
        put(\.printsPorts)
        put(\.logLevel)
        put(\.logFormat)
        put(\.devices)
        settings.places.merge(places) { $1 }
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
