import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient
import NIOCore
import SystemPackage

struct SaveLibraryItemCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Downloads a recording, or a part of it.",
        discussion: """
            If the connection to the relay is lost, the download waits up to 10 minutes for it, and goes on. A part begins
            exactly at --start. It may end in a later file of the same recording.
              heliograph library save 1795706165056348 --start 12.5 --end 20 --output clip.mp4
            """,
        aliases: ["get"]
    )

    @OptionGroup var place: LibraryPlace

    @Argument(help: "The recording's id; `heliograph library list` shows it.")
    var item: String

    @Option(help: ArgumentHelp("Where to write it.", valueName: "file"), completion: .file(extensions: ["mp4"]))
    var output: String

    @Option(help: ArgumentHelp("The part's beginning, in seconds of the recording.", valueName: "s"))
    var start: Double?

    @Option(help: ArgumentHelp("The part's end, likewise. Default: the end of the recording.", valueName: "s"))
    var end: Double?

    func validate() throws {
        guard (start ?? 0) >= 0, (end ?? .infinity) > (start ?? 0) else {
            throw ValidationError("--end must be after --start, and --start not negative.")
        }
    }

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(place.target(), silence: LibraryPlace.silence) { client in
                guard start != nil || end != nil else {
                    return try await save(ItemDownload(of: item, from: client))
                }
                var query = ClipQuery()
                (query.start, query.end) = (start ?? 0, end)
                try await save(ItemDownload(of: item, by: Routes.getLibraryClip, query, from: client))
            }
        }
    }

    private func save(_ download: ItemDownload) async throws {
        do {
            try await WholeFile.write(to: output) { file in
                // The recording may have changed meanwhile.
                try await download.all {
                    try file.resize(to: 0)
                } to: { bytes, offset in
                    _ = try file.writeAll(toAbsoluteOffset: Int64(clamping: offset), bytes.readableBytesView)
                }
            }
        } catch let fault as Errno {
            throw CommandError.failed("cannot write \(output): \(fault)")
        }
    }
}
