import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient
import Program

struct PlaylistCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "playlist",
        abstract: "Lists, shows, makes and removes playlists.",
        discussion: """
              heliograph library playlist set evening 1795706165056348 1795706165056352
              heliograph library play --playlist evening
            """,
        subcommands: [
            ListPlaylistsCommand.self, ShowPlaylistCommand.self, SetPlaylistCommand.self, RemovePlaylistCommand.self,
        ]
    )
}

/// The name of a playlist.
struct PlaylistName: ParsableArguments {
    @Argument(help: "The playlist's name: \(String.nameRule).")
    var playlist: String

    func validate() throws {
        guard playlist.isName else {
            throw ValidationError("'\(playlist)' cannot be a playlist's name: use \(String.nameRule).")
        }
    }

    var place: CallPlace { .playlist(playlist) }
}

struct ListPlaylistsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists playlists with the number of their items, one a line."
    )

    @OptionGroup var place: LibraryPlace
    @OptionGroup var format: AnswerFormat

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(place.target()) { client in
                try format.show(try await client.report(of: Routes.listPlaylists)) { list in
                    list.playlists.map { "\($0.name)  \($0.length)" }.joined(separator: "\n")
                }
            }
        }
    }
}

struct ShowPlaylistCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Lists the items of a playlist, one a line."
    )

    @OptionGroup var place: LibraryPlace
    @OptionGroup var format: AnswerFormat
    @OptionGroup var name: PlaylistName

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(place.target()) { client in
                try format.show(try await client.playlist(name.place)) { playlist in
                    playlist.items.map { Summary.text(of: $0) }.joined(separator: "\n")
                }
            }
        }
    }
}

struct SetPlaylistCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Makes a playlist of items, or replaces it."
    )

    @OptionGroup var place: LibraryPlace
    @OptionGroup var name: PlaylistName

    @Argument(help: "The ids of the items, in order.")
    var items: [Int]

    func run() async throws {
        var request = PlaylistRequest()
        request.items = items
        try await CommandError.reporting {
            try await RelayClient.with(place.target()) { client in
                _ = try await client.answer(
                    to: Routes.setPlaylist,
                    request,
                    at: name.place,
                    limit: RelayClient.longestPlaylist
                )
            }
        }
    }
}

struct RemovePlaylistCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Removes a playlist. Its items stay."
    )

    @OptionGroup var place: LibraryPlace
    @OptionGroup var name: PlaylistName

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(place.target()) { client in
                _ = try await client.report(of: Routes.deletePlaylist, at: name.place)
            }
        }
    }
}

extension RelayClient {
    /// The most bytes of a playlist.
    static let longestPlaylist = 32 << 20

    func playlist(_ place: CallPlace) async throws -> PlaylistReport {
        try await answer(to: Routes.getPlaylist, at: place, limit: Self.longestPlaylist).report()
    }
}
