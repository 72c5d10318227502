import Access
import NIOCore

extension RelayConfiguration {
    /// The defaults with `settings` over them.
    ///
    /// - Parameters:
    ///   - linkToken: The secret from the environment, which counts when the settings name no file.
    ///   - stateDirectory: Where the state, the keys and a certificate of the relay's own are kept that the settings name no file for; nil for nowhere.
    /// - Throws: ``RelayStartError`` when the token cannot be had.
    package init(
        _ settings: RelaySettings,
        linkToken environment: String?,
        stateDirectory: String? = nil
    ) throws(RelayStartError) {
        self.init()
        places = settings.places
        http = settings.http ?? http
        agentLink = settings.agentLink ?? agentLink
        sessionPortBase = settings.sessionPortBase ?? sessionPortBase
        connections.maximum = settings.maximumConnections ?? connections.maximum
        connections.maximumPerAddress = settings.maximumConnectionsPerAddress ?? connections.maximumPerAddress
        connections.requestTimeout = settings.requestTimeout ?? connections.requestTimeout
        connections.idleTimeout = settings.idleTimeout ?? connections.idleTimeout
        watchdog = settings.watchdog ?? watchdog
        helloTimeout = settings.helloTimeout ?? helloTimeout
        agentReturnGrace = settings.agentReturnGrace ?? agentReturnGrace
        slateDelay = settings.slateDelay ?? slateDelay
        if let timeout = settings.viewerTimeout { viewerTimeout = timeout == .zero ? nil : timeout }
        viewerMemory = settings.viewerMemory.map { $0 << 20 } ?? viewerMemory
        portsFile = settings.portsFile
        printsPorts = settings.printsPorts ?? printsPorts
        logLevel = settings.logLevel ?? logLevel
        logFormat = settings.logFormat ?? logFormat
        let listed = settings.devices ?? [DeviceSettings(name: DeviceConfiguration.defaultName)]
        devices = listed.map { DeviceConfiguration($0, within: settings) }
        if let path = settings.linkTokenFile {
            linkToken = try LinkToken(file: path)
            isTokenConfigured = true
        } else if let environment {
            linkToken = try LinkToken(configured: environment, source: LinkToken.environmentKey)
            isTokenConfigured = true
        }
        tls = settings.tls ?? tls
        self.stateDirectory = stateDirectory
        keysFile = Self.keysFile(settings.keysFile, directory: stateDirectory)
        agentUsers = settings.agentUsers ?? agentUsers
        stateFile = Self.stateFile(settings.stateFile, agentLink: agentLink, directory: stateDirectory)
    }

    private static func keysFile(_ named: String?, directory: String?) -> String? {
        if let named { return named == RelaySettings.noFile ? nil : named }
        return directory.map(KeyFile.usualPath(inDirectory:))
    }

    /// Relays are told apart by the port on which agents find them again; one that takes any port is not found again.
    private static func stateFile(_ named: String?, agentLink: Endpoint, directory: String?) -> String? {
        if let named { return named == RelaySettings.noFile ? nil : named }
        guard let directory, agentLink.port != 0 else { return nil }
        return "\(directory)/relay-\(agentLink.port).json"
    }
}

extension DeviceConfiguration {
    /// What is said of the device, and of all devices where that says nothing.
    fileprivate init(_ settings: DeviceSettings, within all: RelaySettings) {
        self.init(name: settings.name)
        source = settings.source ?? all.source ?? source
        fallback = settings.fallback ?? all.fallback
        agentExecutable = settings.agentExecutable ?? all.agentExecutable
        environment = settings.environment
        stateDirectory = settings.stateDirectory
        consentTimeout = settings.consentTimeout
        screenshotCommand = settings.screenshotCommand
        screenshotTimeout = settings.screenshotTimeout
        maximumSessions = settings.maximumSessions ?? all.maximumSessions ?? maximumSessions
        maximumViewers = settings.maximumViewers ?? all.maximumViewers ?? maximumViewers
    }
}
