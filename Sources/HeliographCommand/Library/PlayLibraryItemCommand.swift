import ArgumentParser
import FoundationEssentials
import HeliographAPI
import Subprocess
import SystemPackage
import UnixSignals

struct PlayLibraryItemCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Plays a recording in mpv or ffplay.",
        discussion: """
            The player gets it from this command, so it needs neither the relay's key nor its certificate. If the connection
            to the relay is lost, playing waits up to 10 minutes for it, and goes on.
              heliograph library play 1795706165056348 --start 12.5
              heliograph library play 1795706165056348 -- --fullscreen
            """
    )

    @OptionGroup var place: LibraryPlace

    @Argument(help: "The recording's id; `heliograph library list` shows it.")
    var item: String

    @Option(help: ArgumentHelp("The first second of the recording to play.", valueName: "s"))
    var start = 0.0

    @Option(help: "The player: mpv or ffplay. Default: the first of them that is installed.")
    var player: Player?

    @Argument(parsing: .postTerminator, help: "Further arguments for the player.")
    var arguments: [String] = []

    func validate() throws {
        guard start >= 0 else { throw ValidationError("--start must not be negative.") }
    }

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        try await CommandError.reporting {
            let (player, program) = try await Player.installed(player)
            try await RelayClient.with(place.target(), silence: LibraryPlace.silence) { client in
                let found = try await client.report(of: Routes.getLibraryItem, at: .item(item))
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { for await _ in signals { return } }
                    group.addTask {
                        try await PlayerDoor.open(to: ItemDownload(of: item, from: client)) { address in
                            try await player.run(program, address, title(found), start, arguments)
                        }
                    }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
        }
    }

    private func title(_ item: LibraryItem) -> String { "\(item.device), \(item.name ?? item.start)" }
}

/// A program that plays recordings.
enum Player: String, CaseIterable, ExpressibleByArgument {
    case mpv, ffplay

    /// Returns a player that is installed, and its program.
    ///
    /// - Parameter wanted: The only one that will do; `nil` for any.
    static func installed(_ wanted: Player?) async throws(CommandError) -> (Player, Executable) {
        for player in wanted.map({ [$0] }) ?? Self.allCases {
            let program = Executable.name(player.rawValue)
            if (try? await program.resolveExecutablePath(in: .inherit)) != nil { return (player, program) }
        }
        switch wanted {
        case .ffplay: throw .failed("ffplay is not installed: apt-get install ffmpeg")
        case .mpv: throw .failed("mpv is not installed: apt-get install mpv")
        case nil: throw .failed("neither mpv nor ffplay is installed: apt-get install mpv")
        }
    }

    /// Plays until the player ends.
    ///
    /// - Parameter address: The recording's. The player reads it, because a command line would show it to every user of
    ///   the machine.
    func run(
        _ program: Executable,
        _ address: String,
        _ title: String,
        _ start: Double,
        _ more: [String]
    ) async throws {
        let arguments: [String]
        let list: String
        switch self {
        case .mpv:
            // mpv gives a silent connection up after 60 s by itself.
            let patience = ItemDownload.patience.components.seconds + 60
            // Its script for web pages would show the address on a command line.
            arguments = [
                "--playlist=-", "--ytdl=no", "--network-timeout=\(patience)", "--start=\(start)", "--title=\(title)",
            ]
            list = address + "\n"
        case .ffplay:
            arguments =
                ["-hide_banner", "-loglevel", "error", "-window_title", title, "-ss", "\(start)"]
                + ["-f", "concat", "-safe", "0", "-protocol_whitelist", "pipe,http,tcp", "-i", "pipe:0"]
            list = "file '\(address)'\n"
        }
        let secrets = ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("HELIOGRAPH_") }
        let without = secrets.map { (Environment.Key(stringLiteral: $0), nil as String?) }
        var options = PlatformOptions()
        // So that it leaves the terminal as it was.
        options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .seconds(3))]
        let outcome: ExecutionResult<Void, FileDescriptorOutput, FileDescriptorOutput>
        do {
            outcome = try await Subprocess.run(
                program,
                arguments: Arguments(arguments + more),
                environment: .inherit.updating(Dictionary(uniqueKeysWithValues: without)),
                platformOptions: options,
                input: .string(list),
                output: .currentStandardOutput,
                error: .currentStandardError
            ) { _ in }
        } catch let error as SubprocessError {
            throw CommandError.failed("\(rawValue) cannot be run: \(error)")
        }
        guard case .exited(0) = outcome.terminationStatus else {
            throw CommandError.failed("\(rawValue) ended with \(outcome.terminationStatus)")
        }
    }
}
