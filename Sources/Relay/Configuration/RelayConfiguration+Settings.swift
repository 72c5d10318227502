extension RelayConfiguration {
    /// The defaults with `settings` over them.
    ///
    /// - Parameter linkToken: The secret from the environment, which counts when the settings name no file.
    /// - Throws: ``RelayStartError`` when the token cannot be had.
    package init(_ settings: RelaySettings, linkToken environment: String?) throws(RelayStartError) {
        self.init()
        http = settings.http ?? http
        agentLink = settings.agentLink ?? agentLink
        sessionPortBase = settings.sessionPortBase ?? sessionPortBase
        watchdog = settings.watchdog ?? watchdog
        helloTimeout = settings.helloTimeout ?? helloTimeout
        agentReturnGrace = settings.agentReturnGrace ?? agentReturnGrace
        portsFile = settings.portsFile
        printsPorts = settings.printsPorts ?? printsPorts
        logLevel = settings.logLevel ?? logLevel
        let listed = settings.devices ?? [DeviceSettings(name: DeviceConfiguration.defaultName)]
        devices = listed.map { DeviceConfiguration($0, within: settings) }
        if let path = settings.linkTokenFile {
            linkToken = try LinkToken(file: path)
        } else if let environment {
            linkToken = try LinkToken(configured: environment, source: LinkToken.environmentKey)
        }
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
