import ArgumentParser
import CommandSupport
import FoundationEssentials
import HeliographAPI
import HeliographClient
import Subprocess
import SystemPackage
import UnixSignals

struct PlayLibraryItemCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Plays recordings and music in mpv, or one in ffplay.",
        discussion: """
            The player gets them from this command, so it needs neither the relay's key nor its certificate. If the connection
            to the relay is lost, playing waits up to 10 minutes for it, and goes on.
              heliograph library play 1795706165056348 --start 12.5
              heliograph library play 1795706165056348 -- --fullscreen
              heliograph library play --playlist evening
            """
    )

    @OptionGroup var place: LibraryPlace

    @Argument(help: "The ids of the recordings, in order; `heliograph library list` shows them.")
    var items: [String] = []

    @Option(help: ArgumentHelp("Plays this playlist instead.", valueName: "name"))
    var playlist: String?

    @Option(help: ArgumentHelp("The first second to play, if it is one recording.", valueName: "s"))
    var start = 0.0

    @Option(help: "The player: mpv or ffplay. Default: the first of them that is installed.")
    var player: Player?

    @Argument(parsing: .postTerminator, help: "Further arguments for the player.")
    var arguments: [String] = []

    func validate() throws {
        guard start >= 0 else { throw ValidationError("--start must not be negative.") }
        guard items.isEmpty != (playlist == nil) else {
            throw ValidationError(
                "Name what to play: ids that `heliograph library list` shows, or a playlist by --playlist."
            )
        }
    }

    func run() async throws {
        try await CommandError.reporting {
            let (player, program) = try await Player.installed(player)
            try await RelayClient.with(place.target(), silence: LibraryPlace.silence) { client in
                let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
                let found = try await queue(client)
                guard player == .mpv || found.count == 1 else {
                    throw CommandError.failed("ffplay plays one recording: install mpv to play several")
                }
                guard start == 0 || found.count == 1 else {
                    throw CommandError.failed("--start is for one recording, and these are \(found.count)")
                }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { for await _ in signals { return } }
                    group.addTask {
                        let downloads = found.map { ItemDownload(of: "\($0.id)", from: client) }
                        try await PlayerDoor.open(to: downloads) { addresses in
                            let entries = zip(addresses, found).map { (address: $0, title: title($1)) }
                            try await player.run(program, entries, start, arguments)
                        }
                    }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
        }
    }

    /// Returns the recordings to play.
    private func queue(_ client: RelayClient) async throws -> [LibraryItem] {
        guard let playlist else {
            var found: [LibraryItem] = []
            for item in items { found.append(try await client.report(of: Routes.getLibraryItem, at: .item(item))) }
            return found
        }
        let found = try await client.playlist(.playlist(playlist)).items
        guard !found.isEmpty else { throw CommandError.failed("playlist \(playlist) has nothing to play") }
        return found
    }

    /// Returns an item's title, which is one line: the player's list would take a second one for an address.
    private func title(_ item: LibraryItem) -> String {
        let title = "\(item.device), \(item.name ?? item.start)"
        return String(
            String.UnicodeScalarView(title.unicodeScalars.filter { $0.properties.generalCategory != .control })
        )
    }
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
    /// - Parameters:
    ///   - entries: The recordings' addresses and titles; ffplay takes one. The player reads them, because a command
    ///     line would show the addresses to every user of the machine.
    ///   - start: The position at which each begins, s.
    func run(
        _ program: Executable,
        _ entries: [(address: String, title: String)],
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
                "--playlist=-", "--ytdl=no", "--network-timeout=\(patience)", "--start=\(start)",
                "--title=${media-title}",
            ]
            list = "#EXTM3U\n" + entries.map { "#EXTINF:-1,\($0.title)\n\($0.address)\n" }.joined()
        case .ffplay:
            arguments =
                ["-hide_banner", "-loglevel", "error", "-window_title", entries.first?.title ?? "", "-ss", "\(start)"]
                + ["-f", "concat", "-safe", "0", "-protocol_whitelist", "pipe,http,tcp", "-i", "pipe:0"]
            list = entries.map { "file '\($0.address)'\n" }.joined()
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
