import ArgumentParser
import CommandSupport
import FoundationEssentials
import HeliographAPI

struct ListLibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists recordings, one a line, the newest first.",
        discussion: "With --device it lists those of one device."
    )

    @OptionGroup var place: LibraryPlace
    @OptionGroup var conditions: LibraryConditions

    @Option(help: "Words, or their beginnings, of the device, the session's name or the labels.")
    var text: String?

    func run() async throws { try await conditions.list(place, text: text) }
}

struct SearchLibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Lists recordings that have all these words, the newest first.",
        discussion: """
            The words are of the device, the session's name and the labels. Beginnings are enough.
              heliograph library search login smoke
            """
    )

    @OptionGroup var place: LibraryPlace
    @OptionGroup var conditions: LibraryConditions

    @Argument(help: "The words.")
    var words: [String]

    func run() async throws { try await conditions.list(place, text: words.joined(separator: " ")) }
}

struct ShowLibraryItemCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows what is known about a recording."
    )

    @OptionGroup var place: LibraryPlace
    @OptionGroup var format: AnswerFormat

    @Argument(help: "The recording's id; `heliograph library list` shows it.")
    var item: String

    func run() async throws {
        try await CommandError.reporting {
            try await place.list { try format.show(try await $0.item(item), Summary.details) }
        }
    }
}

/// The conditions and the form of a list.
struct LibraryConditions: ParsableArguments {
    @OptionGroup var format: AnswerFormat

    @Option(help: ArgumentHelp("A label that the recordings have.", valueName: "name=value"))
    var label: String?

    @Option(help: ArgumentHelp("The most recordings, 1 to 1000.", valueName: "n"))
    var limit = 100

    func list(_ place: LibraryPlace, text: String?) async throws {
        var query = LibraryQuery()
        (query.device, query.text, query.label, query.limit) = (place.options.device, text, label, limit)
        try await CommandError.reporting {
            try await place.list { list in
                try format.show(try await list.page(query)) { page in
                    page.items.map { Summary.text(of: $0) }.joined(separator: "\n")
                }
            }
        }
    }
}

extension Summary {
    /// Returns an item's line: id, start, device, session, length, size and state.
    static func text(of item: LibraryItem) -> String {
        let fields = [
            "\(item.id)", item.start, item.device, session(of: item),
            "\(Figure.text(item.seconds)) s", "\(Figure.text(Double(item.bytes) / 1e6)) MB", item.state,
        ]
        return (fields + labels(of: item)).joined(separator: "  ")
    }

    /// Returns all that people want to know of an item, a line each.
    static func details(of item: LibraryItem) -> String {
        let picture = item.width > 0 ? ["\(item.width)x\(item.height)@\(shortest(item.fps))"] : []
        let tracks = item.tracks.map { "\($0.kind) \($0.codec)" }.joined(separator: ", ")
        var lines = [
            "\(item.id): \(item.state)\(item.pinned ? ", pinned" : "")",
            "device \(item.device), \(session(of: item)), file \(item.number) of recording \(item.recording)",
            "from \(item.start), \(Figure.text(item.seconds)) s, \(Figure.text(Double(item.bytes) / 1e6)) MB",
            (picture + [tracks] + (item.width > 0 ? ["\(item.keyframes) keyframes"] : [])).joined(separator: ", "),
        ]
        if let owner = item.owner { lines.append("begun with the key \(owner)") }
        if !item.labels.isEmpty { lines.append("labels \(labels(of: item).joined(separator: ", "))") }
        for gap in item.gaps {
            lines.append(
                "from \(Figure.text(gap.start)) s no new picture for \(Figure.text(gap.seconds)) s: \(gap.reason)"
            )
        }
        return lines.joined(separator: "\n")
    }

    private static func session(of item: LibraryItem) -> String { item.name ?? "session \(item.session)" }

    private static func labels(of item: LibraryItem) -> [String] {
        item.labels.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    }
}
