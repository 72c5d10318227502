import Access
import ArgumentParser
import FoundationEssentials
import Program
import Relay

/// The relay's flags. Each stands for the setting of its name in the configuration file, and is read by the same rules.
struct RelayOptions: ParsableArguments {
    private static let defaults = RelayConfiguration()
    private static let device = DeviceConfiguration()

    @Option(
        help: ArgumentHelp(
            "A YAML file with these settings and the devices (docs/configuration.md). A flag counts more, and so does a "
                + "variable. Default: HELIOGRAPH_RELAY_CONFIG from the environment, else none.",
            valueName: "file"
        )
    )
    var config: String?

    @Flag(help: "Reads the flags and the file, says ok or what is wrong with them, and starts nothing.")
    var checkConfig = false

    @Option(
        help: ArgumentHelp(
            "Where the HTTP API listens, and sessions' ports on the same address; port 0 for any free one. Off loopback it needs "
                + "--tls and keys. Default: \(defaults.http).",
            valueName: "host:port"
        )
    )
    var http: String?

    @Option(
        help: ArgumentHelp(
            "Where agents connect; loopback only, port 0 for any free one. Default: \(defaults.agentLink).",
            valueName: "host:port"
        )
    )
    var agentLink: String?

    @Option(
        help: ArgumentHelp(
            "First TCP port for sessions that name none; 0 for any free one. Default: \(defaults.sessionPortBase).",
            valueName: "port"
        )
    )
    var sessionPortBase: Int?

    @Option(help: ArgumentHelp("Most sessions of a device. Default: \(device.maximumSessions).", valueName: "n"))
    var maxSessions: Int?

    @Option(help: ArgumentHelp("Most viewers of a session. Default: \(device.maximumViewers).", valueName: "n"))
    var maxViewers: Int?

    @Option(
        help: ArgumentHelp(
            "Most connections of callers and viewers. Default: \(defaults.connections.maximum).",
            valueName: "n"
        )
    )
    var maxConnections: Int?

    @Option(
        help: ArgumentHelp(
            "Most connections of one address. Default: \(defaults.connections.maximumPerAddress).",
            valueName: "n"
        )
    )
    var maxConnectionsPerAddress: Int?

    @Option(
        help: ArgumentHelp(
            "How long a connection's first request, a request's body and the key on a session's port may take. "
                + "Default: \(defaults.connections.requestTimeout.seconds).",
            valueName: "s"
        )
    )
    var requestTimeout: Double?

    @Option(
        help: ArgumentHelp(
            "How long a connection may be idle between two requests, and take nothing of an answer. "
                + "Default: \(defaults.connections.idleTimeout.seconds).",
            valueName: "s"
        )
    )
    var idleTimeout: Double?

    @Option(
        help: ArgumentHelp(
            "The capture-agent to start. Default: beside this executable, else in PATH.",
            valueName: "path"
        )
    )
    var agent: String?

    @Option(
        help: ArgumentHelp(
            "What a broadcast captures when its start names no source: auto, portal, mutter, node, screenshot "
                + "or test-pattern. "
                + "Default: \(device.source.kind.rawValue).",
            valueName: "kind"
        )
    )
    var source: String?

    @Option(help: ArgumentHelp("With --source node: the PipeWire node's name, serial or id.", valueName: "name"))
    var node: String?

    @Option(
        help: ArgumentHelp(
            "What a standby captures, to feed sessions while a broadcast's agent cannot: none or a kind of source. "
                + "Default: screenshot beside a desktop's screencast, else none.",
            valueName: "kind"
        )
    )
    var fallback: String?

    @Option(
        help: ArgumentHelp(
            "What connections of callers and viewers are encrypted with: none, or self-signed for a certificate that the relay makes once. "
                + "Default: none.",
            valueName: "kind"
        )
    )
    var tls: String?

    @Option(help: ArgumentHelp("A certificate in PEM, with those that lead to its root.", valueName: "path"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("The certificate's private key in PEM.", valueName: "path"))
    var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            "The API keys that `heliograph keys` makes; none: calls need no key. Default: $XDG_STATE_HOME/heliograph/keys.json.",
            valueName: "path"
        )
    )
    var keysFile: String?

    @Option(
        help: ArgumentHelp("Reads the secret that agents show from this file; see above.", valueName: "path")
    )
    var linkTokenFile: String?

    @Option(
        help: ArgumentHelp(
            "Users beside the relay's own and root whose processes may be agents, names or numbers with commas between.",
            valueName: "users"
        )
    )
    var agentUsers: String?

    @Option(
        help: ArgumentHelp(
            "Where sessions, broadcasts and the token are kept over the relay's end; none keeps nothing. "
                + "Default: $XDG_STATE_HOME/heliograph/relay-PORT.json, PORT being that of --agent-link; none with port 0.",
            valueName: "path"
        )
    )
    var stateFile: String?

    @Option(
        help: ArgumentHelp(
            "After how long without a byte an agent's link is lost. Default: \(defaults.watchdog.seconds).",
            valueName: "s"
        )
    )
    var watchdog: Double?

    @Option(
        help: ArgumentHelp(
            "How long a connecting agent may take to say HELLO. Default: \(defaults.helloTimeout.seconds).",
            valueName: "s"
        )
    )
    var helloTimeout: Double?

    @Option(
        help: ArgumentHelp(
            "How long an agent that is gone is expected back before another is started. "
                + "Default: \(defaults.agentReturnGrace.seconds).",
            valueName: "s"
        )
    )
    var agentReturnGrace: Double?

    @Option(
        help: ArgumentHelp(
            "How long both of a device's sources may be lost before viewers see a slate, NO SIGNAL. "
                + "Default: \(defaults.slateDelay.seconds).",
            valueName: "s"
        )
    )
    var slateDelay: Double?

    @Option(
        help: ArgumentHelp(
            "How long a viewer may be behind before its connection is closed, 0 for ever. "
                + "Default: \(defaults.viewerTimeout?.seconds ?? 0).",
            valueName: "s"
        )
    )
    var viewerTimeout: Double?

    @Option(
        help: ArgumentHelp(
            "What all viewers' connections together may leave unread in the relay. "
                + "Default: \(defaults.viewerMemory >> 20).",
            valueName: "MiB"
        )
    )
    var viewerMemory: Int?

    @Option(
        help: ArgumentHelp(#"Writes {"http":N,"agentLink":N,"pid":N} here once all ports are open."#, valueName: "path")
    )
    var portsFile: String?

    @Flag(help: "Prints the same JSON to standard output.")
    var printPorts = false

    @Option(
        help: ArgumentHelp(
            "trace, debug, info, notice, warning, error or critical. Default: \(defaults.logLevel).",
            valueName: "level"
        )
    )
    var logLevel: String?

    @Option(help: ArgumentHelp("text, or json: an object a line. Default: \(defaults.logFormat).", valueName: "format"))
    var logFormat: String?

    func validate() throws {
        guard (source == "node") == (node != nil) else {
            throw ValidationError("--source node needs --node, and only it")
        }
        guard (tlsCertificate == nil) == (tlsKey == nil), tls == nil || tlsKey == nil else {
            throw ValidationError("--tls-certificate and --tls-key go together, and without --tls")
        }
        do {
            _ = try settings()
        } catch let issues as FieldIssues {
            let lines = issues.all.map { "\(flag($0.path)) \($0.statement)" }
            throw ValidationError(lines.joined(separator: "\n"))
        }
    }

    /// The configuration file; nil for none.
    var file: String? {
        config ?? ProcessInfo.processInfo.environment[EnvironmentSettings.file].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The flags over the environment over the file over the defaults.
    ///
    /// - Throws: `ConfigurationError`; `RelayStartError` when the token cannot be had.
    func configuration() throws -> RelayConfiguration {
        let environment = ProcessInfo.processInfo.environment
        let file = try file.map { path throws(ConfigurationError) in try ConfigurationFile.settings(at: path) }
        let variables = try EnvironmentSettings.settings(in: environment)
        return try RelayConfiguration(
            try settings().over(variables).over(file ?? RelaySettings()),
            linkToken: environment[LinkToken.environmentKey],
            stateDirectory: StateFolder.path(in: environment)
        )
    }

    private func settings() throws -> RelaySettings {
        var flags: [JSONValue.Member] = []
        func add(_ name: String, _ value: JSONValue?) {
            if let value { flags.append(.init(name: name, value: value)) }
        }
        add("http", http.map(JSONValue.string))
        add("agentLink", agentLink.map(JSONValue.string))
        add("sessionPortBase", sessionPortBase.map(JSONValue.integer))
        add("maxSessions", maxSessions.map(JSONValue.integer))
        add("maxViewers", maxViewers.map(JSONValue.integer))
        add("maxConnections", maxConnections.map(JSONValue.integer))
        add("maxConnectionsPerAddress", maxConnectionsPerAddress.map(JSONValue.integer))
        add("requestTimeout", requestTimeout.map(JSONValue.number))
        add("idleTimeout", idleTimeout.map(JSONValue.number))
        add("agent", agent.map(JSONValue.string))
        let node = node.map { [JSONValue.Member(name: "node", value: .string($0))] } ?? []
        add("source", source.map { .object([.init(name: "kind", value: .string($0))] + node) })
        add("fallback", fallback.map(JSONValue.string))
        if let tlsCertificate, let tlsKey {
            add("tls", ["certificate": .string(tlsCertificate), "key": .string(tlsKey)])
        } else {
            add("tls", tls.map(JSONValue.string))
        }
        add("keysFile", keysFile.map(JSONValue.string))
        add("linkTokenFile", linkTokenFile.map(JSONValue.string))
        add("agentUsers", agentUsers.map { .array($0.split(separator: ",").map { .string(String($0)) }) })
        add("stateFile", stateFile.map(JSONValue.string))
        add("watchdog", watchdog.map(JSONValue.number))
        add("helloTimeout", helloTimeout.map(JSONValue.number))
        add("agentReturnGrace", agentReturnGrace.map(JSONValue.number))
        add("slateDelay", slateDelay.map(JSONValue.number))
        add("viewerTimeout", viewerTimeout.map(JSONValue.number))
        add("viewerMemory", viewerMemory.map(JSONValue.integer))
        add("portsFile", portsFile.map(JSONValue.string))
        add("printPorts", printPorts ? true : nil)
        add("logLevel", logLevel.map(JSONValue.string))
        add("logFormat", logFormat.map(JSONValue.string))
        var settings = try ObjectReader.read(flags) { RelaySettings(&$0) }
        for member in flags { settings.places[member.name] = flag([member.name]) }
        return settings
    }

    /// The flag that stands for a setting: `maxSessions` is `--max-sessions`, `source.kind` is `--source`, `tls.key` is `--tls-key`.
    private func flag(_ path: [String]) -> String {
        if path.count == 2, path[0] == "tls" { return "--tls-\(path[1])" }
        let name = path.last == "kind" ? path[0] : path[path.count - 1]
        return "--" + name.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
    }
}
