import Access
package import Logging
package import NIOCore

/// What a relay is told when it starts. Every value has a default.
package struct RelayConfiguration: Sendable {
    /// Where the HTTP API listens, and sessions' ports on the same address. Off loopback only with ``tls`` and keys.
    package var http = Endpoint(host: "127.0.0.1", port: 8420)
    /// Where agents connect; loopback only.
    package var agentLink = Endpoint(host: "127.0.0.1", port: 9300)
    /// The first port that a session without a port of its own tries; 0 lets the system choose.
    package var sessionPortBase = 9200
    /// The devices that can be broadcast, at least one. Their names differ.
    package var devices = [DeviceConfiguration()]
    /// What counts for each device that does not have its own value.
    package var eachDevice = DeviceConfiguration()
    /// The devices as the file lists them, from which ``devices`` are made.
    package var listedDevices = [DeviceSettings(name: DeviceConfiguration.defaultName)]
    /// What connections of others than agents are encrypted with.
    package var tls = TLSSettings.none
    /// Where an identity of the relay's own making is kept; nil for nowhere.
    package var stateDirectory: String?
    /// Where the API keys are kept; nil for no access control.
    package var keysFile: String?
    /// The file to read ``linkToken`` from.
    package var linkTokenFile: String?
    /// The secret that agents show.
    package var linkToken = LinkToken.random()
    /// Whether the operator chose it. Else the one of the relay's former life counts.
    package var isTokenConfigured = false
    /// The users, beside the relay's own and root, whose processes may be agents.
    package var agentUsers: [UInt32] = []
    /// Where the relay keeps what it goes on with after its end; nil for nowhere.
    package var stateFile: String?
    /// How long after its start a relay expects agents of its former life before it starts others.
    package var adoptionTime = TimeAmount.seconds(2)

    /// How long a connection may take to say HELLO.
    package var helloTimeout = TimeAmount.seconds(5)
    /// After how long without a byte an agent's link counts as lost.
    package var watchdog = TimeAmount.seconds(6)
    /// How long an agent may give no picture that is overdue, while its link is well, before it is ended.
    package var hangTime = TimeAmount.seconds(10)
    /// How long an agent whose link is gone is expected back before another is started.
    package var agentReturnGrace = TimeAmount.seconds(5)
    /// How long a standby's source may be lost before viewers see a slate.
    package var slateDelay = TimeAmount.seconds(5)
    /// How long a stopped agent has to leave by itself before it is sent SIGTERM.
    package var agentStopGrace = TimeAmount.seconds(2)
    /// Delays between restarts of an agent that exits.
    package var restartBackoff = RestartBackoff.Policy()

    /// How many connections callers and viewers may have, and for how long one may keep the relay waiting.
    package var connections = ConnectionLimits()
    /// How many connections to sessions' ports may come without a key yet, where one is needed.
    package var strangers = StreamEntrance.Policy()
    /// What is expected of viewers on WebSockets.
    package var webSocket = WebSocketMachine.Policy()

    /// What a viewer may fall behind by.
    package var viewerQueueLimits = ViewerQueue.Limits()
    /// How long a viewer may be behind before its connection is closed; nil for ever.
    package var viewerTimeout: TimeAmount? = .seconds(30)
    /// Most bytes that all viewers' connections may have been handed and not have taken.
    package var viewerMemory = 256 << 20

    /// Written once all ports are open: `{"http":8420,"agentLink":9300,"pid":1234}`.
    package var portsFile: String?
    /// Whether the same is printed to standard output.
    package var printsPorts = false
    /// What is logged at least.
    package var logLevel = Logger.Level.info
    package var logFormat = LogFormat.text

    /// Where each setting was said, by its name, for those who have to mend it.
    package var places: [String: String] = [:]

    package init() {}

    /// - Parameter keyCount: How many keys there are; nil where access is off.
    /// - Throws: ``RelayStartError``
    package func validate(keyCount: Int?) throws(RelayStartError) {
        guard agentLink.isLoopback else { throw .notLoopback(option: "--agent-link", endpoint: agentLink) }
        guard !http.isLoopback, tls == .none || keyCount ?? 0 == 0 else { return }
        throw .open(endpoint: http, hasTLS: tls != .none, hasKeys: keyCount ?? 0 > 0, keysFile: keysFile)
    }

    /// Looks at what a start would, as far as it can without opening a port or making a file.
    ///
    /// - Throws: ``RelayStartError``
    package func check() throws(RelayStartError) {
        let keys: KeyRing?
        do {
            keys = try keysFile.map(KeyFile.init(path:))?.read()
        } catch {
            throw .keys(error)
        }
        try validate(keyCount: keys?.keys.count)
        guard let files = try TLSFiles(tls, directory: stateDirectory) else { return }
        // A start makes its own.
        if tls == .selfSigned, files.isMissing { return }
        _ = try files.identity()
    }

    /// What went wrong, behind where the setting that is to blame was said.
    package func statement(of error: RelayStartError) -> String {
        guard let place = error.setting.flatMap({ places[$0] }) else { return "heliograph-relay: \(error)" }
        return "\(place): \(error)"
    }
}

extension RelayConfiguration {
    /// The settings whose values differ in `new`, by their names: those that can change while the relay runs, and those that cannot.
    ///
    /// A device that is new or gone is one that cannot.
    package func differences(to new: RelayConfiguration) -> (changed: [String], fixed: [String]) {
        let differing = Self.settings.filter { !$0.isOfDevices && $0.differs(self, new) }
        var changed = differing.filter { $0.change != .atRestart }.map(\.name)
        for device in devices {
            if let other = new.devices.first(where: { $0.name == device.name }), other != device {
                changed.append("devices.\(device.name)")
            }
        }
        var fixed = differing.filter { $0.change == .atRestart }.map(\.name)
        // A token of the relay's own is a new one each time.
        if isTokenConfigured != new.isTokenConfigured || new.isTokenConfigured && linkToken != new.linkToken {
            fixed.append("linkTokenFile")
        }
        if Set(devices.map(\.name)) != Set(new.devices.map(\.name)) { fixed.append("devices") }
        return (changed, fixed)
    }

    /// Returns this configuration with all values of `new` that can change while the relay runs.
    package func taking(_ new: RelayConfiguration) -> RelayConfiguration {
        var configuration = self
        for setting in Self.settings where setting.change != .atRestart { setting.copy(new, &configuration) }
        configuration.devices = devices.map { device in new.devices.first { $0.name == device.name } ?? device }
        return configuration
    }
}

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
