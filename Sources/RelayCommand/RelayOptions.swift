public import ArgumentParser
import FoundationEssentials
public import Logging
import Relay

/// The relay's options. Defaults are `RelayConfiguration`'s.
struct RelayOptions: ParsableArguments {
    private static let defaults = RelayConfiguration()

    @Option(help: "Where the HTTP API listens; loopback only, port 0 for any free one.")
    var http = defaults.http

    @Option(help: "Where agents connect; loopback only, port 0 for any free one.")
    var agentLink = defaults.agentLink

    @Option(help: ArgumentHelp("First TCP port for sessions that name none; 0 for any free one.", valueName: "port"))
    var sessionPortBase = defaults.sessionPortBase

    @Option(help: ArgumentHelp("Most sessions of a device.", valueName: "n"))
    var maxSessions = defaults.maximumSessions

    @Option(help: ArgumentHelp("Most viewers of a session.", valueName: "n"))
    var maxViewers = defaults.maximumViewers

    @Option(
        help: ArgumentHelp(
            "The capture-agent to start. Default: beside this executable, else in PATH.",
            valueName: "path"
        )
    )
    var agent: String?

    @Option(
        help: "What a broadcast captures when its start names no source: auto, portal, mutter, node or test-pattern."
    )
    var source = defaults.defaultSource.kind

    @Option(help: ArgumentHelp("With --source node: the PipeWire node's name, serial or id.", valueName: "name"))
    var node: String?

    @Option(
        help: ArgumentHelp("Reads the secret that agents show from this file; see above.", valueName: "path")
    )
    var linkTokenFile: String?

    @Option(help: ArgumentHelp("After how long without a byte an agent's link is lost.", valueName: "s"))
    var watchdog = defaults.watchdog.seconds

    @Option(help: ArgumentHelp("How long a connecting agent may take to say HELLO.", valueName: "s"))
    var helloTimeout = defaults.helloTimeout.seconds

    @Option(
        help: ArgumentHelp("How long an agent that is gone is expected back before another is started.", valueName: "s")
    )
    var agentReturnGrace = defaults.agentReturnGrace.seconds

    @Option(
        help: ArgumentHelp(#"Writes {"http":N,"agentLink":N,"pid":N} here once all ports are open."#, valueName: "path")
    )
    var portsFile: String?

    @Flag(help: "Prints the same JSON to standard output.")
    var printPorts = false

    @Option(help: "trace, debug, info, notice, warning, error or critical.")
    var logLevel = Logger.Level.info

    func validate() throws {
        try Self.check(watchdog, in: 0.1...3600, "--watchdog")
        try Self.check(helloTimeout, in: 0.1...3600, "--hello-timeout")
        try Self.check(agentReturnGrace, in: 0...3600, "--agent-return-grace")
        try Self.check(maxSessions, in: 1...1000, "--max-sessions")
        try Self.check(maxViewers, in: 1...10_000, "--max-viewers")
        guard (source == .node) == (node != nil) else {
            throw ValidationError("--source node needs --node, and only it")
        }
        guard sessionPortBase == 0 || (1024...65535).contains(sessionPortBase) else {
            throw ValidationError("--session-port-base \(sessionPortBase): allowed are 0 and 1024 to 65535")
        }
    }

    private static func check<Value: Comparable>(_ value: Value, in range: ClosedRange<Value>, _ name: String) throws {
        guard range.contains(value) else {
            throw ValidationError("\(name) \(value): allowed are \(range.lowerBound) to \(range.upperBound)")
        }
    }

    /// - Throws: `RelayStartError` when the token cannot be had.
    func configuration() throws -> RelayConfiguration {
        var configuration = RelayConfiguration()
        configuration.http = http
        configuration.agentLink = agentLink
        configuration.sessionPortBase = sessionPortBase
        configuration.maximumSessions = maxSessions
        configuration.maximumViewers = maxViewers
        configuration.agentExecutable = agent
        configuration.defaultSource = SourceRequest(kind: source)
        configuration.defaultSource.node = node
        configuration.watchdog = .init(seconds: watchdog)
        configuration.helloTimeout = .init(seconds: helloTimeout)
        configuration.agentReturnGrace = .init(seconds: agentReturnGrace)
        configuration.portsFile = portsFile
        if let linkTokenFile {
            configuration.linkToken = try LinkToken(file: linkTokenFile)
        } else if let text = ProcessInfo.processInfo.environment[LinkToken.environmentKey] {
            configuration.linkToken = try LinkToken(configured: text, source: LinkToken.environmentKey)
        }
        try configuration.validate()
        return configuration
    }
}

extension Endpoint: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
    package var defaultValueDescription: String { description }
}

extension SourceRequest.Kind: ExpressibleByArgument {}

extension Logger.Level: @retroactive ExpressibleByArgument {}
