import ArgumentParser
import CommandSupport
import FoundationEssentials
@preconcurrency import Glibc
import HeliographAPI
import HeliographClient
import Program
import UnixSignals
import Viewer

@main
struct HeliographView: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "heliograph-view",
        abstract: "Shows sessions in a window.",
        discussion: """
            Without a session, it shows the one that the device's viewers share. Several devices or sessions make a wall.
              heliograph view                              the default device
              heliograph view door --device left           one session
              heliograph view --device left --device right
              heliograph view --all                        every device

            Click into the picture to control the device, and hold Escape for a second to stop. Keys otherwise:
            \(Shortcut.helpText.split(separator: "\n").dropLast().map { "  " + $0 }.joined(separator: "\n"))

            Volume, window and statistics are kept for each relay in ~/.config/heliograph/view.json.
            """,
        version: Release.current
    )

    @Argument(
        help: "Sessions, by their ids, or by their names on the device. A number is an id.",
        completion: .custom(Completions.sessions)
    )
    var sessions: [String] = []

    @Option(
        help: ArgumentHelp(
            "A device; several make a wall. Default: default, or the relay's only one.",
            valueName: "name"
        ),
        completion: .custom(Completions.devices)
    )
    var device: [String] = []

    @Flag(help: "All devices of the relay.")
    var all = false

    @OptionGroup var relay: RelayAddress

    @Flag(inversion: .prefixedNo, help: "Whether the window covers the screen. Default: as the last time.")
    var fullScreen: Bool?

    @Flag(inversion: .prefixedNo, help: "Whether sound is off at first. Default: as the last time.")
    var mute: Bool?

    @Option(
        help: ArgumentHelp(
            "The loudspeaker, which is kept; --list-speakers shows which there are. Default: that of the desktop.",
            valueName: "name"
        )
    )
    var speaker: String?

    @Flag(help: "Lists this machine's loudspeakers, and ends.")
    var listSpeakers = false

    @Flag(inversion: .prefixedNo, help: "Whether the window shows statistics. Default: as the last time.")
    var statistics: Bool?

    @Flag(help: "Prints the statistics on standard output, too: a JSON object a second and session.")
    var statsJson = false

    @Flag(help: "Only looks: clicks and keys do not reach the device.")
    var lookOnly = false

    @Flag(help: "Gives the desktop the size of the window, if its monitor can take it, or else the pictures.")
    var matchWindow = false

    @Option(
        help: ArgumentHelp(
            "Draws in the terminal instead of a window: blocks, or sixel. Default: blocks without a display.",
            valueName: "how"
        )
    )
    var terminal: TerminalView.Style?

    @Option(
        help: ArgumentHelp("One of SDL's renderers, such as software. Default: the fastest one.", valueName: "name")
    )
    var renderer: String?

    @Flag(help: "Waits for the display's refresh before each picture: no tearing, but up to a refresh later.")
    var vsync = false

    func validate() throws {
        let names = sessions.filter { UInt32($0) == nil }
        for name in names + device where !name.isName || name.utf8.count > 64 {
            throw ValidationError("'\(name)' is not a name: use \(String.nameRule).")
        }
        if all, !sessions.isEmpty || !device.isEmpty {
            throw ValidationError("--all goes without sessions and --device.")
        }
        if !sessions.isEmpty, device.count > 1 {
            throw ValidationError("Sessions are of one device: give --device once.")
        }
        if !device.isEmpty, !sessions.isEmpty, names.isEmpty {
            throw ValidationError("\(sessions[0]) is an id, which goes without --device.")
        }
        if matchWindow, all || sessions.count > 1 || device.count > 1 || terminal != nil {
            throw ValidationError("--match-window is for one session in a window.")
        }
        if statsJson, terminal != nil {
            throw ValidationError("--stats-json goes without --terminal: both write to standard output.")
        }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        try await CommandError.reporting {
            if listSpeakers {
                for name in await Viewer.speakers { print(name) }
                return
            }
            let style = try await terminalStyle()
            try await RelayClient.with(relay) { client in
                let screens = try await screens(client)
                if let style {
                    try await TerminalShow(screens: screens, style: style).run()
                } else {
                    try await WindowShow(
                        screens: screens,
                        url: client.url,
                        options: options,
                        printsStatistics: statsJson
                    )
                    .run()
                }
            }
        }
    }

    /// Returns how to draw in the terminal; `nil` if there is a window.
    private func terminalStyle() async throws -> TerminalView.Style? {
        if let terminal { return terminal }
        guard let fault = await Viewer.displayFault else { return nil }
        guard isatty(STDOUT_FILENO) == 1, !statsJson else {
            throw CommandError.failed(
                "there is no display to open a window on: \(fault). In a terminal, --terminal blocks draws there"
            )
        }
        return .blocks
    }

    private var options: Viewer.Options {
        var options = Viewer.Options()
        (options.renderer, options.waitsForDisplay, options.mayControl) = (renderer, vsync, !lookOnly)
        (options.isFullScreen, options.speaker, options.showsStatistics) = (fullScreen, speaker, statistics)
        (options.isMuted, options.matchesWindow) = (mute, matchWindow)
        return options
    }

    /// How long a session that the viewer has started lives without a viewer.
    private static let sessionTime = Duration.seconds(30)

    /// Returns the sessions that devices' viewers share. If the relay does not start them for viewers, this does.
    ///
    /// On a wall, a device whose session cannot be started shows why.
    private func shared(_ devices: [String], _ client: RelayClient) async throws -> [NamedScreen] {
        for name in devices {
            do throws(RelayError) {
                try await startShared(name, client)
            } catch {
                guard devices.count > 1, !error.isLossOfRelay else { throw error }
            }
        }
        return devices.map { NamedScreen(client.device($0), $0) }
    }

    private func startShared(_ device: String, _ client: RelayClient) async throws(RelayError) {
        do throws(RelayError) {
            _ = try await SessionAddress.shared(device: device).report(client)
        } catch {
            guard error.problem == .unknownSession else { throw error }
            var settings = SessionSettings()
            settings.timeToLive = Self.sessionTime
            try await client.device(device).session(Route.sharedSession).start(settings)
        }
    }

    /// Returns the sessions to show.
    private func screens(_ client: RelayClient) async throws -> [NamedScreen] {
        if all {
            let devices = try await client.devices()
            guard !devices.isEmpty else { throw CommandError.failed("the relay has no devices") }
            return try await shared(devices.map(\.name), client)
        }
        guard !sessions.isEmpty else {
            let names = device.isEmpty ? [try await client.deviceName(nil)] : device
            return try await shared(names, client)
        }
        let home = sessions.contains { UInt32($0) == nil } ? try await client.deviceName(device.first) : ""
        return sessions.map { session in
            guard let id = UInt32(session) else {
                return NamedScreen(client.device(home).session(session), "\(home)/\(session)")
            }
            return NamedScreen(client.session(id), "session \(id)")
        }
    }
}

extension TerminalView.Style: ExpressibleByArgument {}
