import Foundation
import Library
import TestSupport
import Testing

@Suite("Playlists")
struct PlaylistTests {
    private let place: TestLibrary

    init() throws { place = try TestLibrary() }

    @Test("keep their order, are files that players can play, and stay when the catalogue is rebuilt")
    func kept() throws {
        let facts = (0..<3).map {
            TestLibrary.facts(Int64($0), device: $0 == 1 ? "phone-2" : "phone-1", name: "run-\($0)")
        }
        for one in facts { try place.write(one) }
        try place.with { library in
            let ids = try facts.map { try library.addComplete($0) }
            let set = try library.setPlaylist("evening", [ids[2], ids[0], ids[1], ids[0]])
            #expect(set.items.map(\.id) == [ids[2], ids[0], ids[1], ids[0]])
            #expect(try library.playlist("evening") == set)
            #expect(try library.playlists().map(\.name) == ["evening"] && library.playlists().map(\.count) == [4])
            let scoped = try library.playlist("evening", scope: .only(["phone-2"]))
            #expect(scoped?.items.map(\.id) == [ids[1]])
            let text = try String(contentsOf: place.url("playlists/evening.m3u8"), encoding: .utf8)
            #expect(text.hasPrefix("#EXTM3U\n#EXTINF:10,run-2\n../recordings/phone-1/"), "\(text)")
            let paths = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            #expect(paths.count == 4 && paths.allSatisfy { place.exists("playlists/\($0)") })

            try library.delete(ids[0])
            #expect(try library.playlist("evening")?.items.map(\.id) == [ids[2], ids[1]])
            try library.undelete(ids[0])
        }
        try place.remove("catalogue.sqlite")
        try place.with { library in
            _ = try library.reconcile { try TestLibrary.inspect($0) }
            let numbers = try library.playlist("evening")?.items.map(\.facts.start)
            #expect(numbers == [2, 0, 1, 0].map { facts[$0].start })
            #expect(try library.removePlaylist("evening") && !library.removePlaylist("evening"))
            #expect(try library.playlist("evening") == nil && library.playlists().isEmpty)
        }
    }

    @Test("of other programs have the items of the library that they name")
    func foreign() throws {
        let facts = TestLibrary.facts(1)
        let path = try place.write(facts)
        try place.with { library in
            let id = try library.addComplete(facts)
            let lines = [
                "#EXTM3U", "../\(path)\r", "\(path)", "../../etc/passwd", "http://host/x", "../recordings/x",
                "../\(path)",
            ]
            try place.write(lines.joined(separator: "\n"), to: "playlists/other.m3u8")
            #expect(try library.playlist("other")?.items.map(\.id) == [id, id])
            try place.write("\u{0}\u{FF}", to: "playlists/odd.m3u8")
            try place.write("#EXTM3U", to: "playlists/no name.m3u8")
            try FileManager.default.createSymbolicLink(
                atPath: place.url("playlists/link.m3u8").path,
                withDestinationPath: "/etc/passwd"
            )
            #expect(try library.playlist("odd")?.items == [])
            #expect(try library.playlist("link") == nil && library.playlist("../other") == nil)
            #expect(try library.playlists().map(\.name) == ["odd", "other"])
            try place.write(String(repeating: "x", count: 9 << 20), to: "playlists/large.m3u8")
            #expect(throws: LibraryError.self) { try library.playlist("large") }
            #expect(try library.playlists().map(\.name) == ["large", "odd", "other"])
            #expect(try library.setPlaylist("odd", [id]).items.count == 1 && library.removePlaylist("large"))
        }
    }

    @Test("with a bad name, an item that is not there, or too many items are refused")
    func refused() throws {
        try place.with { library in
            let id = try library.addComplete(TestLibrary.facts(1))
            for name in ["", "a b", "../x", "ä", String(repeating: "a", count: 65)] {
                #expect(throws: LibraryError.self) { try library.setPlaylist(name, [id]) }
            }
            #expect(throws: LibraryError.unknownItem(7)) { try library.setPlaylist("a", [id, 7]) }
            #expect(throws: LibraryError.self) {
                try library.setPlaylist("a", Array(repeating: id, count: Playlist.mostItems + 1))
            }
            #expect(!place.exists("playlists"))
            #expect(try library.setPlaylist("a", []).items.isEmpty)
        }
    }
}
