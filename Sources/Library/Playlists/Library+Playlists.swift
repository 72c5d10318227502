import Files
import GRDB
import Program
import Synchronization
import SystemPackage

extension Library {
    /// Returns the playlists' names and how many items each has, deleted ones included.
    package func playlists() throws(LibraryError) -> [(name: String, count: Int)] {
        // One that cannot be read does not hide the others.
        try playlistNames().prefix(Playlist.most).map { ($0, (try? paths(ofPlaylist: $0))?.count ?? 0) }
    }

    private func playlistNames() throws(LibraryError) -> [String] {
        guard let folder = try DiskFolder(path: folder).find(Playlist.folder) else { return [] }
        return try folder.entries().compactMap { entry in
            guard case .file = entry.kind, entry.isText, entry.name.hasSuffix(Playlist.ending) else { return nil }
            let name = String(entry.name.dropLast(Playlist.ending.count))
            return name.isName ? name : nil
        }
    }

    /// Returns a playlist; `nil` if there is none.
    ///
    /// - Parameter scope: The devices whose items the caller may see. Others are left out.
    package func playlist(_ name: String, scope: DeviceScope = .all) throws(LibraryError) -> Playlist? {
        guard let paths = try paths(ofPlaylist: name) else { return nil }
        let items = try catalogue.read { db in
            try paths.compactMap { try ItemRow.find(path: $0, db) }.filter { scope.contains($0.facts.device) }
        }
        return Playlist(name: name, items: items)
    }

    /// Makes a playlist, or replaces it.
    ///
    /// - Throws: ``LibraryError/invalid(_:)``, ``LibraryError/unknownItem(_:)``, ``LibraryError/folder(_:reason:)``.
    package func setPlaylist(_ name: String, _ ids: [Int64]) throws(LibraryError) -> Playlist {
        let path = try file(ofPlaylist: name)
        guard ids.count <= Playlist.mostItems else {
            throw .invalid("A playlist has at most \(Playlist.mostItems) items.")
        }
        let items = try catalogue.read { db in
            try ids.map { id in
                guard let item = try ItemRow.find(id, db) else { throw LibraryError.unknownItem(id) }
                return item
            }
        }
        let playlist = Playlist(name: name, items: items)
        try playlistTurn.withLock { _ throws(LibraryError) in try write(playlist, to: path) }
        return playlist
    }

    private func write(_ playlist: Playlist, to path: FilePath) throws(LibraryError) {
        guard try playlistNames().count(where: { $0 != playlist.name }) < Playlist.most else {
            throw .invalid("The library has \(Playlist.most) playlists: remove one first.")
        }
        switch try DiskFolder(path: folder).kind(of: Playlist.folder) {
        case nil, .folder?: break
        default: throw .folder("\(folder)/\(Playlist.folder)", reason: "it is not a folder")
        }
        do {
            try ReplacedFile.createFolder(of: path)
            try ReplacedFile.write(Array(playlist.text { Playlist.up + $0.path }.utf8), to: path)
        } catch {
            throw .folder(path.string, reason: "\(error)")
        }
    }

    /// Removes a playlist. Its items stay.
    ///
    /// - Returns: Whether there was one.
    package func removePlaylist(_ name: String) throws(LibraryError) -> Bool {
        let file = name + Playlist.ending
        return try playlistTurn.withLock { _ throws(LibraryError) in
            guard name.isName, let folder = try DiskFolder(path: folder).find(Playlist.folder),
                folder.size(of: file) != nil
            else { return false }
            try folder.remove(file)
            folder.sync()
            return true
        }
    }

    private func file(ofPlaylist name: String) throws(LibraryError) -> FilePath {
        guard name.isName else {
            throw .invalid("'\(name.shortened)' cannot be a playlist's name: use \(String.nameRule).")
        }
        return FilePath(folder).appending(Playlist.folder).appending(name + Playlist.ending)
    }

    /// Returns the paths in a playlist's file; `nil` if there is none.
    private func paths(ofPlaylist name: String) throws(LibraryError) -> [String]? {
        guard name.isName, let folder = try DiskFolder(path: folder).find(Playlist.folder),
            folder.size(of: name + Playlist.ending) != nil
        else { return nil }
        let path = try file(ofPlaylist: name)
        guard let file = try? RecordingFile(reading: path), file.length <= Playlist.mostBytes,
            let bytes = file.read(at: 0, count: Int(clamping: file.length))
        else { throw .file(path.string, reason: "it is not a text of at most \(Playlist.mostBytes >> 20) MiB") }
        return Array(Playlist.paths(in: String(decoding: bytes, as: UTF8.self)).prefix(Playlist.mostItems))
    }
}
