import Access

extension RelayConfiguration {
    /// Creates the configuration that a relay starts with.
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
        self = settings.values
        places = settings.places
        devices = listedDevices.map { DeviceConfiguration($0, within: eachDevice) }
        if let path = linkTokenFile {
            linkToken = try LinkToken(file: path)
            isTokenConfigured = true
            // A reload compares tokens instead.
            linkTokenFile = nil
        } else if let environment {
            linkToken = try LinkToken(configured: environment, source: LinkToken.environmentKey)
            isTokenConfigured = true
        }
        self.stateDirectory = stateDirectory
        if !settings.names.contains("keysFile") { keysFile = stateDirectory.map(KeyFile.usualPath(inDirectory:)) }
        // Agents find a relay again by its port, so relays are told apart by it. A relay that takes any port is not found again.
        if !settings.names.contains("stateFile"), let stateDirectory, agentLink.port != 0 {
            stateFile = "\(stateDirectory)/relay-\(agentLink.port).json"
        }
    }
}
