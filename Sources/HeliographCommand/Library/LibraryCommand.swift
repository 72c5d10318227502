import ArgumentParser
import FoundationEssentials
import HeliographAPI
import NIOCore
import SystemPackage

struct LibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "library",
        abstract: "Lists, downloads and deletes what the relay has recorded.",
        discussion: """
            Record a session into the library:
              heliograph session start door --record
              heliograph set door --no-record           ends the recording
            """,
        subcommands: [
            ListLibraryCommand.self, GetFromLibraryCommand.self, DeleteFromLibraryCommand.self,
            BackUpLibraryCommand.self, RestoreLibraryCommand.self, RebuildLibraryCommand.self,
        ]
    )
}

struct ListLibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists recordings, one a line, the newest first.",
        discussion: "With --device it lists those of one device."
    )

    @OptionGroup var options: RelayOptions
    @OptionGroup var format: AnswerFormat

    @Option(help: "Words, or their beginnings, of the device, the session's name or the labels.")
    var text: String?

    @Option(help: ArgumentHelp("A label that the recordings have.", valueName: "name=value"))
    var label: String?

    @Option(help: ArgumentHelp("The most recordings, 1 to 1000.", valueName: "n"))
    var limit = 100

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(options.address) { client in
                var query = LibraryQuery()
                (query.device, query.text, query.label, query.limit) = (options.device, text, label, limit)
                try format.show(try await client.answer(to: Routes.listLibrary, query)) { page in
                    page.items.map { Summary.text(of: $0) }.joined(separator: "\n")
                }
            }
        }
    }
}

struct GetFromLibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Downloads a recording, or a part of it.",
        discussion: """
            A part begins exactly at --start. It may end in a later file of the same recording.
              heliograph library get 1795706165056348 --start 12.5 --end 20 --output clip.mp4
            """
    )

    @OptionGroup var options: RelayOptions

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
            try await RelayClient.with(options.address) { client in
                // Opened when the relay has agreed, because that replaces an existing file.
                var file: SystemPackage.FileDescriptor?
                defer { try? file?.close() }
                do {
                    let write = { (bytes: ByteBuffer) in
                        let opened = try file ?? .output(output)
                        file = opened
                        _ = try opened.writeAll(bytes.readableBytesView)
                    }
                    guard start != nil || end != nil else {
                        return try await client.download(Routes.getLibraryFile, NoArguments(), of: item, to: write)
                    }
                    var query = ClipQuery()
                    (query.start, query.end) = (start ?? 0, end)
                    try await client.download(Routes.getLibraryClip, query, of: item, to: write)
                } catch let error as Errno {
                    throw CommandError.failed("cannot write \(output): \(error)")
                }
            }
        }
    }
}

struct DeleteFromLibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes recordings.",
        discussion: "They can be restored for 60 s: POST /v1/library/ITEM/restore."
    )

    @OptionGroup var options: RelayOptions

    @Argument(help: "The ids of the recordings.")
    var items: [String]

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(options.address) { client in
                for item in items { _ = try await client.report(of: Routes.deleteLibraryItem, at: .item(item)) }
            }
        }
    }
}

extension Summary {
    /// Returns an item's line: id, start, device, session, length, size and state.
    static func text(of item: LibraryItem) -> String {
        let labels = item.labels.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let fields = [
            "\(item.id)", item.start, item.device, item.name ?? "session \(item.session)",
            "\(decimal(item.seconds)) s", "\(decimal(Double(item.bytes) / 1e6)) MB", item.state,
        ]
        return (fields + labels).joined(separator: "  ")
    }
}
