import HTTPTypes
import HeliographAPI
import Hummingbird
import Library
import LibraryAPI
import NIOCore

extension API {
    func addPlaylistRoutes(to routes: inout RouteTable) {
        routes.add(Routes.listPlaylists) { _, _, _ in
            var report = PlaylistList()
            report.playlists = try await inLibrary { try $0.playlists() }.map { name, count in
                var entry = PlaylistList.Entry()
                (entry.name, entry.length) = (name, count)
                return entry
            }
            return report
        }
        routes.add(Routes.getPlaylist) { _, _, context in PlaylistReport(try await playlist(context)) }
        routes.add(Routes.setPlaylist) { asked, _, context in
            let name = Self.playlistName(context)
            return PlaylistReport(try await inLibrary { try $0.setPlaylist(name, asked.items.map { Int64($0) }) })
        }
        routes.add(Routes.deletePlaylist) { _, _, context in
            // One whose file cannot be read can be removed.
            let former = try? await playlist(context)
            let name = Self.playlistName(context)
            guard try await inLibrary({ try $0.removePlaylist(name) }) else { throw Self.noPlaylist(name) }
            return PlaylistReport(former ?? Playlist(name: name, items: []))
        }
        routes.respond(to: Routes.getPlaylistFile) { _, _, context in
            let playlist = try await playlist(context)
            let headers: HTTPFields = [
                .contentType: "application/vnd.apple.mpegurl", .cacheControl: "private, no-cache",
            ]
            let text = playlist.text { "../../\($0.id)/file" }
            return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        }
    }

    private static func playlistName(_ context: RelayRequestContext) -> String {
        let name = context.parameters.get("playlist") ?? ""
        context.audit.note("playlist", name)
        return name
    }

    private func playlist(_ context: RelayRequestContext) async throws -> Playlist {
        let (name, scope) = (Self.playlistName(context), context.caller.scope)
        guard let playlist = try await inLibrary({ try $0.playlist(name, scope: scope) }) else {
            throw Self.noPlaylist(name)
        }
        return playlist
    }

    private static func noPlaylist(_ name: String) -> Problem {
        Problem(.unknownPlaylist, "there is no playlist \(name): GET /v1/library/playlists lists them")
    }
}

extension PlaylistReport {
    fileprivate init(_ playlist: Playlist) {
        self.init()
        name = playlist.name
        items = playlist.items.map { LibraryItem($0) }
    }
}
