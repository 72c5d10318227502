import Access
import HeliographAPI
package import Logging
package import NIOCore

/// The configuration of a relay. Every value has a default.
package struct RelayConfiguration: Sendable {
    /// The address of the HTTP API. Sessions' ports are on the same host. Other than loopback, it needs ``tls`` and
    /// keys.
    package var http = Endpoint(host: "127.0.0.1", port: 8420)
    /// The address for agents; loopback only.
    package var agentLink = Endpoint(host: "127.0.0.1", port: 9300)
    /// The first port to try for sessions without a port of their own; 0 lets the system choose.
    package var sessionPortBase = 9200
    /// The devices that can be broadcast; at least one, with different names.
    package var devices = [DeviceConfiguration()]
    /// The values for devices that do not set their own.
    package var eachDevice = DeviceConfiguration()
    /// The devices in the file, from which ``devices`` is made.
    package var listedDevices = [DeviceSettings(name: DeviceConfiguration.defaultName)]
    /// The webhooks in the file, from which ``webhooks`` is made.
    package var listedWebhooks: [WebhookSettings] = []
    /// The webhooks that get events.
    package var webhooks: [Webhook] = []
    /// How often webhooks get an event that they do not accept.
    package var webhookPolicy = WebhookLane.Policy()
    /// The TLS settings for all connections except agents'.
    package var tls = TLSSettings.none
    /// The tunnel that the relay runs.
    package var tunnel = TunnelChoice.none
    /// The path of the tunnel's program; `nil` for cloudflared on PATH.
    package var tunnelExecutable: String?
    /// The delays before it is started again.
    package var tunnelBackoff = RestartBackoff.Policy(first: .seconds(1), longest: .seconds(60))
    /// The folder for a certificate that the relay makes; `nil` for none.
    package var stateDirectory: String?
    /// The file with the API keys; `nil` for no access control.
    package var keysFile: String?
    /// The origins of other pages that may call the relay and show its page, such as `https://ci.example`.
    package var allowedOrigins: [String] = []
    /// The file to read ``linkToken`` from.
    package var linkTokenFile: String?
    /// The secret that agents send.
    package var linkToken = LinkToken.random()
    /// Whether the operator chose ``linkToken``. If not, the token of the previous run applies.
    package var isTokenConfigured = false
    /// The secret that signed links are signed with: that of the previous run, if its state was kept.
    package var linkSecret = SigningSecret()
    /// The users, besides the relay's own and root, whose processes may be agents.
    package var agentUsers: [UInt32] = []
    /// The folder of recordings and their catalogue; `nil` for none.
    package var library: String?
    /// How many days a recording is kept; 0 for no limit.
    package var libraryDays = 0
    /// The most bytes of all recordings; 0 for no limit.
    package var librarySize = 0
    /// The bytes that recordings leave free on their disk.
    package var libraryFree = 512 << 20
    /// The free space of the disk for which recordings are deleted, in bytes; 0 for none.
    package var libraryKeepFree = 0
    /// The most bytes of each device's recordings, and of those that each key began; 0 for no limit.
    package var (libraryDeviceSize, libraryKeySize) = (0, 0)
    /// The file with the state for the next run; `nil` for none.
    package var stateFile: String?
    /// How long after its start a relay waits for agents of its previous run before it starts new ones.
    package var adoptionTime = TimeAmount.seconds(2)

    /// The time limit for a connection to send HELLO.
    package var helloTimeout = TimeAmount.seconds(5)
    /// How long an agent's link may be silent before it counts as lost.
    package var watchdog = TimeAmount.seconds(6)
    /// How long an agent with a healthy link may owe a picture before it is ended.
    package var hangTime = TimeAmount.seconds(10)
    /// How long the relay waits for an agent whose link is gone before it starts another.
    package var agentReturnGrace = TimeAmount.seconds(5)
    /// How long a standby's source may be lost before viewers see a slate.
    package var slateDelay = TimeAmount.seconds(5)
    /// How long a stopped agent has to leave before it gets SIGTERM.
    package var agentStopGrace = TimeAmount.seconds(2)
    /// The delays between restarts of an agent that exits.
    package var restartBackoff = RestartBackoff.Policy()

    /// The limits on connections of callers and viewers, and on the time they may take.
    package var connections = ConnectionLimits()
    /// The limits on connections to sessions' ports that have not shown a key yet, if one is needed.
    package var strangers = StreamEntrance.Policy()
    /// The limits on viewers' WebSockets.
    package var webSocket = WebSocketMachine.Policy()

    /// The limits on what waits for a viewer.
    package var viewerQueueLimits = ViewerQueue.Limits()
    /// How long a viewer may be behind before its connection is closed; `nil` for no limit.
    package var viewerTimeout: TimeAmount? = .seconds(30)
    /// Most bytes handed to all viewers' connections and not taken yet.
    package var viewerMemory = 256 << 20

    /// The file written once all ports are open: `{"http":8420,"agentLink":9300,"pid":1234}`.
    package var portsFile: String?
    /// Whether the contents of ``portsFile`` are also printed to standard output.
    package var printsPorts = false
    /// Whether callers on other machines must have paired.
    package var requiresPairing = false
    /// Whether the relay is not announced in the local network.
    package var isHidden = false
    /// The least severe level that is logged.
    package var logLevel = Logger.Level.info
    package var logFormat = LogFormat.text

    /// The place that set each setting, by the setting's name, for error messages.
    package var places: [String: String] = [:]

    package init() {}

    /// Checks that the settings fit together.
    ///
    /// - Parameter keyCount: The number of keys; `nil` if access control is off.
    /// - Throws: ``RelayStartError``
    package func validate(keyCount: Int?) throws(RelayStartError) {
        guard tunnel == .none || keyCount ?? 0 > 0 else { throw .tunnelWithoutKeys(keysFile: keysFile) }
        guard !requiresPairing || keysFile != nil else { throw .pairingWithoutKeysFile }
        guard agentLink.isLoopback else { throw .notLoopback(option: "--agent-link", endpoint: agentLink) }
        try validateStandingSessions()
        guard !http.isLoopback, tls == .none || keyCount ?? 0 == 0 else { return }
        throw .open(endpoint: http, hasTLS: tls != .none, hasKeys: keyCount ?? 0 > 0, keysFile: keysFile)
    }

    /// Checks that all standing sessions can exist beside each other, and beside the relay.
    private func validateStandingSessions() throws(RelayStartError) {
        var taken = [agentLink.port: "the agents"]
        taken[http.port] = "the HTTP API"
        for device in devices {
            guard device.standingSessions.count <= device.maximumSessions else {
                let reason = "there are \(device.standingSessions.count), and maxSessions is \(device.maximumSessions)"
                throw .standingSessions(device: device.name, reason: reason)
            }
            for (name, request) in device.standingSessions.sorted(by: { $0.key < $1.key }) {
                guard !request.record || library != nil else {
                    throw .standingSessions(device: device.name, reason: "\(name) is recorded, and library is none")
                }
                guard request.port != 0 else { continue }
                if let other = taken.updateValue("the session \(name) of \(device.name)", forKey: request.port) {
                    let reason = "\(name) has the port \(request.port) of \(other): give it another, or none"
                    throw .standingSessions(device: device.name, reason: reason)
                }
            }
        }
    }

    /// Checks what a start would check, without opening ports or creating files.
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
        // A start would create them.
        if tls == .selfSigned, files.isMissing { return }
        _ = try files.identity()
    }

    /// Returns the error's text, after the place where the faulty setting was set.
    package func statement(of error: RelayStartError) -> String {
        guard let place = error.setting.flatMap({ places[$0] }) else { return "heliograph-relay: \(error)" }
        return "\(place): \(error)"
    }
}

extension RelayConfiguration {
    /// Returns the names of settings that differ in `new`: those that can change while the relay runs, and those that
    /// cannot.
    ///
    /// A new or removed device cannot.
    package func differences(to new: RelayConfiguration) -> (changed: [String], fixed: [String]) {
        let differing = Self.settings.filter { !$0.isOfDevices && $0.differs(self, new) }
        var changed = differing.filter { $0.change != .atRestart }.map(\.name)
        for device in devices {
            if let other = new.devices.first(where: { $0.name == device.name }), other != device {
                changed.append("devices.\(device.name)")
            }
        }
        var fixed = differing.filter { $0.change == .atRestart }.map(\.name)
        // A token that the relay makes is different each time.
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
        configuration.webhooks = new.webhooks
        configuration.devices = devices.map { device in new.devices.first { $0.name == device.name } ?? device }
        return configuration
    }
}

extension RelayConfiguration {
    /// Creates the configuration that a relay starts with.
    ///
    /// - Parameters:
    ///   - linkToken: The secret from the environment, used if the settings name no file.
    ///   - stateDirectory: The folder for the state, the keys and a certificate that the relay makes, unless the
    ///   settings name files for them; `nil` for none.
    /// - Throws: ``RelayStartError`` if the token is not available.
    package init(
        _ settings: RelaySettings,
        linkToken environment: String?,
        stateDirectory: String? = nil
    ) throws(RelayStartError) {
        self = settings.values
        places = settings.places
        devices = listedDevices.map { DeviceConfiguration($0, within: eachDevice) }
        for listed in listedWebhooks { webhooks.append(try Webhook(listed, devices: devices.map(\.name))) }
        if let path = linkTokenFile {
            linkToken = try LinkToken(file: path)
            isTokenConfigured = true
            // A reload compares tokens instead of files.
            linkTokenFile = nil
        } else if let environment {
            linkToken = try LinkToken(configured: environment, source: LinkToken.environmentKey)
            isTokenConfigured = true
        }
        self.stateDirectory = stateDirectory
        if !settings.names.contains("keysFile") { keysFile = stateDirectory.map(KeyFile.usualPath(inDirectory:)) }
        // Agents find a relay again by its port, so the port identifies it. A relay with a random port cannot be found
        // again.
        if !settings.names.contains("library") { library = stateDirectory.map { "\($0)/library" } }
        if !settings.names.contains("stateFile"), let stateDirectory, agentLink.port != 0 {
            stateFile = "\(stateDirectory)/relay-\(agentLink.port).json"
        }
    }
}
