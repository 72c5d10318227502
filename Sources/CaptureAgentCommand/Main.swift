import ArgumentParser
import CaptureAgent
import FoundationEssentials
import Glibc
import Logging
import Media
import Program
import Wire

@main
struct CaptureAgentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture-agent",
        abstract: "Captures a screen, encodes it for every session and streams it to a Heliograph relay.",
        discussion: """
            Usually the relay starts it. Started by hand or by a service manager, it needs the token that the relay is \
            configured with in the environment variable HELIOGRAPH_LINK_TOKEN.

            Exit status: 0 ended by the relay or by SIGTERM, 64 wrong arguments, 70 told to end and did not within 5 s, \
            71 the system refused a thread or a file descriptor at the start, 75 the relay stayed away, 77 the relay \
            refused the agent.
            """,
        version: Release.current,
        subcommands: [GuardInput.self, GuardGamepad.self]
    )

    @Option(help: "The relay's address for agents, HOST:PORT with a numeric IPv4 host.")
    var relay = "127.0.0.1:9300"

    @Option(help: "The name of the device to capture: letters, digits, - and _.")
    var device = "default"

    @Option(
        help: "The agent's role: primary, or standby, which feeds sessions when the primary cannot."
    )
    var role = AgentRole.primary

    @Option(help: "Where pictures come from.")
    var source = SourceKind.portal

    @Option(help: "With mutter and screenshot, the monitor's connector, such as DP-1. Default: the first.")
    var output: String?

    @Option(help: "With node, the PipeWire node's name, serial or id.")
    var node: String?

    @Option(help: "With auto, portal and mutter: monitor, or window for one that is chosen or has the focus.")
    var content = ScreenContent.monitor

    @Option(help: "Whether the pointer is in the picture: embedded or hidden.")
    var cursor = CursorDrawing.embedded

    @Option(
        help: """
            WIDTHxHEIGHT, 16 to 8192 each: with test-pattern its size (default 1280x720), with mutter that of a monitor \
            made for the purpose.
            """
    )
    var size: String?

    @Option(help: "Frames per second of the test pattern, 1 to 240.")
    var fps = 60

    @Option(
        parsing: .remaining,
        help: ArgumentHelp(
            """
            With screenshot, the program that writes a picture to its standard output (PNG, JPEG or PPM), and its \
            arguments: all that follows, so this is the last option. Default: what the desktop offers.
            """,
            valueName: "program argument"
        )
    )
    var command: [String] = []

    @Option(help: "Seconds that the command may take for a picture.")
    var commandTimeout = 5.0

    @Option(
        help: """
            How to act on the desktop: auto for what it offers itself, portal for its portal, which asks a person at \
            every start, uinput for virtual devices of the kernel, or off.
            """
    )
    var input = InputChoice.auto

    @Option(
        help: """
            The sound that is captured: off, desktop for what the default sink plays, virtual for a sink that the agent \
            makes, sink:NAME, node:NAME or application:NAME.
            """
    )
    var audio = SoundChoice.off

    @Option(help: "The bitrate of the sound in kbit/s, 16 to 256.")
    var audioBitrate = SoundCoding().bitrate

    @Option(help: "The duration of a packet of sound in ms: 2.5, 5, 10, 20, 40 or 60.")
    var audioPacket = SoundCoding().packet

    @Flag(help: "Makes a microphone, to which callers of the relay may speak.")
    var microphone = false

    @Option(help: "Where the portal's restore token is kept. Default: $XDG_STATE_HOME/heliograph.")
    var stateDirectory: String?

    @Option(help: "Seconds that a person has to answer the desktop's dialog.")
    var consentTimeout = 60.0

    @Option(help: "Seconds that the relay may be away before the agent ends itself.")
    var relayAbsence = 10.0

    @Option(help: "With --role standby: seconds that its source may be lost before it shows a slate, NO SIGNAL.")
    var slateDelay = 5.0

    @Option(help: "trace, debug, info, notice, warning, error or critical.")
    var logLevel = "info"

    @Flag(
        help: """
            Looks at what a capture needs here, writes what it finds as JSON to standard output, captures nothing and ends: \
            what `heliograph doctor` shows.
            """
    )
    var diagnose = false

    func run() throws {
        CrashSignals.endProcess()
        if diagnose { return try printFindings() }
        let configuration = try agentConfiguration()
        var logger = Logger(label: "capture-agent") { StreamLogHandler.standardError(label: $0) }
        guard let level = Logger.Level(rawValue: logLevel) else {
            throw ValidationError("--log-level \(logLevel) is not a level.")
        }
        logger.logLevel = level
        switch try Self.run(configuration, logger: logger) {
        case .stopped:
            logger.info("ended")
        case .refused(let reason):
            logger.error("\(reason)")
            throw ExitCode(EX_NOPERM)
        case .relayAway(let reason):
            logger.error("the relay at \(relay) stayed away: \(reason)")
            throw ExitCode(EX_TEMPFAIL)
        }
    }

    private static func run(_ configuration: AgentConfiguration, logger: Logger) throws -> Agent.Ending {
        do throws(ResourceShortage) {
            let agent = try Agent(configuration: configuration, logger: logger)
            try TerminationSignals.handle { agent.stop() }
            try EndingLimit.watch(agent)
            return try agent.run()
        } catch {
            logger.error("\(error)")
            throw ExitCode(EX_OSERR)
        }
    }

    private func printFindings() throws {
        signal(SIGPIPE, SIG_IGN)
        let directory = try stateDirectory ?? Self.defaultStateDirectory()
        let findings = DesktopDiagnosis(stateDirectory: directory, device: device, input: input).findings()
        print(String(decoding: try JSONEncoder().encode(findings), as: UTF8.self))
    }

    private func agentConfiguration() throws -> AgentConfiguration {
        let (host, port) = try Self.hostAndPort(relay)
        guard device.isName else {
            throw ValidationError("--device takes \(String.nameRule).")
        }
        guard (1...3600).contains(consentTimeout) else {
            throw ValidationError("--consent-timeout takes 1 to 3600 seconds.")
        }
        guard (0...3600).contains(slateDelay) else {
            throw ValidationError("--slate-delay takes 0 to 3600 seconds.")
        }
        guard (0...86_400).contains(relayAbsence) else {
            throw ValidationError("--relay-absence takes 0 to 86400 seconds.")
        }
        guard stateDirectory?.hasPrefix("/") ?? true else {
            throw ValidationError("--state-directory takes an absolute path.")
        }
        guard let token = EnvironmentVariable.value("HELIOGRAPH_LINK_TOKEN") else {
            throw ValidationError("Set HELIOGRAPH_LINK_TOKEN to the token that the relay is configured with.")
        }
        // Child processes must not inherit the token.
        unsetenv("HELIOGRAPH_LINK_TOKEN")
        var configuration = AgentConfiguration(
            relayHost: host,
            relayPort: port,
            device: device,
            role: role,
            source: try sourceConfiguration(),
            token: token,
            stateDirectory: try stateDirectory ?? Self.defaultStateDirectory(),
            consentTimeout: consentTimeout,
            relayAbsence: relayAbsence
        )
        configuration.slateDelay = slateDelay
        configuration.input = input
        guard SoundCoding.bitrates.contains(audioBitrate) else {
            throw ValidationError("--audio-bitrate takes 16 to 256 kbit/s.")
        }
        configuration.sound = audio
        configuration.soundCoding.bitrate = audioBitrate
        configuration.soundCoding.packet = audioPacket
        configuration.hasMicrophone = microphone
        return configuration
    }

    private func sourceConfiguration() throws -> AgentConfiguration.Source {
        switch source {
        case .auto:
            return .auto(content, cursor: cursor)
        case .portal:
            return .portal(content, cursor: cursor)
        case .mutter:
            return .mutter(try mutterScreen(), cursor: cursor)
        case .node:
            guard let node else { throw ValidationError("--source node needs --node.") }
            return .node(node)
        case .screenshot:
            guard 0.1...60 ~= commandTimeout else {
                throw ValidationError("--command-timeout takes 0.1 to 60 seconds.")
            }
            let command =
                command.isEmpty ? nil : ScreenshotCommand(words: command, timeout: UInt64(commandTimeout * 1e9))
            return .screenshot(ScreenshotTarget(output: output, cursor: cursor, command: command))
        case .testPattern:
            guard 1...240 ~= fps else { throw ValidationError("--fps takes 1 to 240.") }
            return .testPattern(try pictureSize() ?? PictureSize(width: 1280, height: 720), fps: fps)
        }
    }

    private func mutterScreen() throws -> MutterSource.Screen {
        let size = try pictureSize()
        guard [output != nil, size != nil, content == .window].count(where: { $0 }) <= 1 else {
            throw ValidationError("--output, --size and --content window exclude each other.")
        }
        if let output { return .monitor(output) }
        if let size { return .virtual(size) }
        return MutterSource.Screen(content)
    }

    private func pictureSize() throws -> PictureSize? {
        guard let size else { return nil }
        let sides = size.split(separator: "x").compactMap { Int($0) }
        guard sides.count == 2, sides.allSatisfy({ 16...8192 ~= $0 }) else {
            throw ValidationError("--size takes WIDTHxHEIGHT, 16 to 8192 each.")
        }
        return PictureSize(width: sides[0], height: sides[1])
    }

    private static func hostAndPort(_ text: String) throws -> (String, UInt16) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            throw ValidationError("--relay takes HOST:PORT, for example 127.0.0.1:9300.")
        }
        return (String(text[..<colon]), port)
    }

    private static func defaultStateDirectory() throws -> String {
        guard let folder = StateFolder.path(in: ProcessInfo.processInfo.environment) else {
            throw ValidationError("Neither XDG_STATE_HOME nor HOME is set: name a --state-directory.")
        }
        return folder
    }
}

extension AgentRole: ExpressibleByArgument {}

extension CursorDrawing: ExpressibleByArgument {}

extension InputChoice: ExpressibleByArgument {}

extension ScreenContent: ExpressibleByArgument {}

extension SoundChoice: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
    public var defaultValueDescription: String { description }
}

extension SoundCoding.PacketDuration: ExpressibleByArgument {}

extension SourceKind: ExpressibleByArgument {}
