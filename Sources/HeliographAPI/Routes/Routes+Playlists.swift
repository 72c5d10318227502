extension Routes {
    static let playlists = [
        listPlaylists.route, getPlaylist.route, setPlaylist.route, deletePlaylist.route, getPlaylistFile.route,
    ]

    private static let playlist = "/v1/library/playlists/{playlist}"

    private static let noPlaylist = ProblemAnswer([.unknownPlaylist], "There is no such playlist.")

    package static let listPlaylists = Call<NoArguments, PlaylistList>(
        "listPlaylists",
        .get,
        "/v1/library/playlists",
        for: .look,
        .library,
        "Lists the library's playlists.",
        answer: "The playlists."
    ) {
        $0.isScoped = true
        $0.ownProblems = [noLibrary]
    }

    package static let getPlaylist = Call<NoArguments, PlaylistReport>(
        "getPlaylist",
        .get,
        playlist,
        for: .look,
        .library,
        "Returns a playlist with its items.",
        answer: "The playlist."
    ) {
        $0.isScoped = true
        $0.ownProblems = [noLibrary, noPlaylist]
    }

    package static let setPlaylist = Call<PlaylistRequest, PlaylistReport>(
        "setPlaylist",
        .put,
        playlist,
        for: .delete,
        .library,
        "Makes a playlist, or replaces it.",
        "It is the file `playlists/NAME.m3u8` in the library's folder.",
        answer: "The playlist."
    ) {
        $0.maximumBody = 256 << 10
        $0.ownProblems = [noLibrary, .init([.unknownItem], "One of the items is not there: `detail` names it.")]
    }

    package static let deletePlaylist = Call<NoArguments, PlaylistReport>(
        "deletePlaylist",
        .delete,
        playlist,
        for: .delete,
        .library,
        "Removes a playlist. Its items stay.",
        arguments: .query,
        answer: "What it was."
    ) { $0.ownProblems = [noLibrary, noPlaylist] }

    package static let getPlaylistFile = Call<NoArguments, Bytes>(
        "getPlaylistFile",
        playlist + "/list.m3u8",
        for: .look,
        .library,
        "Returns a playlist for players: M3U, with the addresses of the items' files.",
        answer: playlist("The playlist.")
    ) {
        $0.isScoped = true
        $0.ownProblems = [noLibrary, noPlaylist]
    }
}
