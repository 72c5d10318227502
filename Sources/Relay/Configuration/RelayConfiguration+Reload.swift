extension RelayConfiguration {
    /// A setting that can change while the relay runs.
    private struct LiveSetting: Sendable {
        let name: String
        let differs: @Sendable (RelayConfiguration, RelayConfiguration) -> Bool
        let take: @Sendable (inout RelayConfiguration, RelayConfiguration) -> Void

        init<Value: Equatable & Sendable>(
            _ name: String,
            _ path: any WritableKeyPath<RelayConfiguration, Value> & Sendable
        ) {
            self.name = name
            differs = { $0[keyPath: path] != $1[keyPath: path] }
            take = { $0[keyPath: path] = $1[keyPath: path] }
        }
    }

    /// Those of the relay itself; each device's are beside.
    private static let liveSettings = [
        LiveSetting("logLevel", \.logLevel), LiveSetting("slateDelay", \.slateDelay),
        LiveSetting("agentReturnGrace", \.agentReturnGrace), LiveSetting("viewerTimeout", \.viewerTimeout),
        LiveSetting("agentUsers", \.agentUsers), LiveSetting("viewerMemory", \.viewerMemory),
        LiveSetting("maxConnections", \.connections.maximum),
        LiveSetting("maxConnectionsPerAddress", \.connections.maximumPerAddress),
        LiveSetting("requestTimeout", \.connections.requestTimeout),
        LiveSetting("idleTimeout", \.connections.idleTimeout),
    ]

    /// The settings whose values differ in `new`, by their names: those that can change while the relay runs, and those that cannot.
    ///
    /// A device that is new or gone is one that cannot.
    package func differences(to new: RelayConfiguration) -> (changed: [String], fixed: [String]) {
        var changed = Self.liveSettings.filter { $0.differs(self, new) }.map(\.name)
        for device in devices {
            if let other = new.devices.first(where: { $0.name == device.name }), other != device {
                changed.append("devices.\(device.name)")
            }
        }
        var fixed: [String] = []
        if http != new.http { fixed.append("http") }
        if agentLink != new.agentLink { fixed.append("agentLink") }
        if sessionPortBase != new.sessionPortBase { fixed.append("sessionPortBase") }
        if watchdog != new.watchdog { fixed.append("watchdog") }
        if helloTimeout != new.helloTimeout { fixed.append("helloTimeout") }
        if tls != new.tls { fixed.append("tls") }
        if keysFile != new.keysFile { fixed.append("keysFile") }
        // A token of the relay's own is a new one each time.
        if isTokenConfigured != new.isTokenConfigured || new.isTokenConfigured && linkToken != new.linkToken {
            fixed.append("linkTokenFile")
        }
        if stateFile != new.stateFile { fixed.append("stateFile") }
        if portsFile != new.portsFile { fixed.append("portsFile") }
        if printsPorts != new.printsPorts { fixed.append("printPorts") }
        if logFormat != new.logFormat { fixed.append("logFormat") }
        if Set(devices.map(\.name)) != Set(new.devices.map(\.name)) { fixed.append("devices") }
        return (changed, fixed)
    }

    /// This configuration with what of `new` can change while the relay runs.
    package func taking(_ new: RelayConfiguration) -> RelayConfiguration {
        var configuration = self
        for setting in Self.liveSettings { setting.take(&configuration, new) }
        configuration.devices = devices.map { device in new.devices.first { $0.name == device.name } ?? device }
        return configuration
    }
}
