/// Items in an order, under a name.
///
/// It is the file `playlists/NAME.m3u8` of the library, with the items' paths from there, so that other programs can
/// play and write it, too. It stays when the catalogue is rebuilt.
package struct Playlist: Sendable, Equatable {
    /// The most items of a playlist.
    package static let mostItems = 10_000
    /// The most playlists of a library.
    package static let most = 1000
    static let folder = "playlists"
    static let ending = ".m3u8"
    /// The way from its folder to the library's.
    static let up = "../"
    /// The most bytes of a file.
    static let mostBytes: UInt64 = 8 << 20

    package var name: String
    /// Without those that have been deleted since.
    package var items: [Item]

    package init(name: String, items: [Item]) {
        self.name = name
        self.items = items
    }

    /// Returns it as M3U.
    ///
    /// - Parameter address: Where a player finds an item.
    package func text(_ address: (Item) -> String) -> String {
        let entries = items.map { item in
            "#EXTINF:\(item.facts.duration / 1_000_000),\(item.facts.sessionName ?? item.facts.device)\n\(address(item))\n"
        }
        return "#EXTM3U\n" + entries.joined()
    }

    /// Returns the paths in a file's contents, relative to the library's folder. Other lines are comments.
    static func paths(in text: String) -> [String] {
        text.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let line = String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
            return line.hasPrefix(up) ? String(line.dropFirst(up.count)) : nil
        }
    }
}
