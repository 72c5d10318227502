import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient

struct LibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "library",
        abstract: "Lists, plays, downloads and deletes what the relay has recorded.",
        discussion: """
            Record a session into the library:
              heliograph session start door --record
              heliograph set door --no-record           ends the recording

            Use the library of another machine's relay from here on:
              heliograph library connect https://HOST:8420 --key-file key
              heliograph library search login
              heliograph library play ITEM
            """,
        subcommands: [
            ConnectLibraryCommand.self, RefreshLibraryCommand.self, DisconnectLibraryCommand.self,
            ListLibraryCommand.self, SearchLibraryCommand.self, ShowLibraryItemCommand.self,
            PlayLibraryItemCommand.self, SaveLibraryItemCommand.self, DeleteFromLibraryCommand.self,
            PlaylistCommand.self, ImportLibraryCommand.self,
            BackUpLibraryCommand.self, RestoreLibraryCommand.self, RebuildLibraryCommand.self,
        ]
    )
}

struct DeleteFromLibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes recordings.",
        discussion: "They can be restored for 60 s: POST /v1/library/ITEM/restore."
    )

    @OptionGroup var place: LibraryPlace

    @Argument(help: "The ids of the recordings.")
    var items: [String]

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(place.target()) { client in
                for item in items { _ = try await client.report(of: Routes.deleteLibraryItem, at: .item(item)) }
            }
        }
    }
}
