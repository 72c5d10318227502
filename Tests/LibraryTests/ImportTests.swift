import Foundation
import Library
import TestSupport
import Testing

@Suite("Imports")
struct ImportTests {
    private let test: TestLibrary

    init() throws { test = try TestLibrary() }

    /// Makes a music file of a second.
    private func music(_ path: String, title: String? = nil, cover: Bool = false) throws {
        let picture = test.scratch.file("cover.jpg")
        if cover { try MusicSource.makeCover(picture) }
        let tags = title.map { ["title": $0, "artist": "Ann"] } ?? [:]
        try MusicSource.make(test.url(path), tags: tags, cover: cover ? picture : nil)
        if cover { try FileManager.default.removeItem(at: picture) }
    }

    private func take(_ library: Library) throws -> Imports {
        try library.takeImports()
    }

    @Test("are taken over with title, artist and cover, and the library can be rebuilt from them")
    func taken() throws {
        try music("imports/one.mp3", title: "Größe", cover: true)
        try music("imports/left/two.mp3")
        let items: [Item] = try test.with { library in
            let report = try take(library)
            #expect(report.taken.count == 2 && report.refused.isEmpty, "\(report)")
            #expect(try take(library) == Imports())
            let items = try library.items(ItemQuery()).items
            let one = try #require(items.first { $0.facts.device == "imports" })
            #expect(one.facts.sessionName == "Größe" && one.facts.labels == ["artist": "Ann"])
            #expect(one.facts.duration == 1_000_000 && one.facts.tracks.map(\.kind) == ["audio"])
            #expect(one.state == .complete && one.hasThumbnail && one.path.hasSuffix("/one.mp3"))
            #expect(test.exists(one.path) && test.exists(one.path + ".jpg") && !test.exists("imports/one.mp3"))
            let two = try #require(items.first { $0.facts.device == "left" })
            #expect(two.facts.sessionName == "two" && !two.hasThumbnail)
            return items
        }
        _ = try Library.rebuild(folder: test.folder, clock: test.clock.read) { try LibraryFile.inspect($0) }
        try test.with { library in
            #expect(try library.items(ItemQuery()).items.map(\.facts) == items.map(\.facts))
            #expect(try library.items(ItemQuery()).items.map(\.hasThumbnail) == items.map(\.hasThumbnail))
            // A deletion takes the cover with it.
            for item in items { try library.delete(item.id) }
            test.clock.advance(61)
            #expect(try library.purge().items == 2)
            for item in items { #expect(!test.exists(item.path) && !test.exists(item.path + ".jpg")) }
            #expect(try library.reconcile { try LibraryFile.inspect($0) }.isClean)
        }
    }

    @Test("of movies have their sizes and titles, and are inspected again when they are replaced")
    func movies() throws {
        let picture = test.scratch.file("cover.jpg")
        try MusicSource.makeCover(picture)
        try MovieSource.make(
            test.url("imports/left/a.000.mp4"),
            tags: ["title": "Film", "artist": "Ann"],
            cover: picture
        )
        let item: Item = try test.with { library in
            let report = try take(library)
            #expect(report.taken.count == 1 && report.refused.isEmpty, "\(report)")
            let item = try #require(try library.items(ItemQuery()).items.first)
            #expect(item.facts.device == "left" && item.facts.sessionName == "Film" && !item.facts.isOfSession)
            #expect(item.facts.labels == ["artist": "Ann"] && item.state == .complete && item.hasThumbnail)
            #expect(item.facts.width == 320 && item.facts.height == 180 && item.facts.fps == 25)
            #expect(item.facts.duration == 2_000_000 && item.facts.tracks.map(\.kind) == ["video", "audio"])
            #expect(item.path.hasSuffix("/a.000.mp4") && test.exists(String(item.path.dropLast(4)) + ".jpg"))
            return item
        }
        try FileManager.default.removeItem(at: test.url(item.path))
        try MovieSource.make(test.url(item.path), seconds: 3)
        try test.with { library in
            #expect(try library.reconcile { try LibraryFile.inspect($0) }.changed == 1)
            let changed = try #require(try library.items(ItemQuery()).items.first)
            #expect(changed.id == item.id && changed.facts.duration == 3_000_000)
        }
    }

    @Test("that are links to the original leave it where it is when they are deleted")
    func linked() throws {
        try music("music/original.mp3", title: "Song")
        let original = test.url("music/original.mp3")
        try FileManager.default.createDirectory(at: test.url("imports"), withIntermediateDirectories: true)
        try FileManager.default.linkItem(at: original, to: test.url("imports/song.mp3"))
        let bytes = try Data(contentsOf: original)
        try test.with { library in
            #expect(try take(library).taken.count == 1)
            try library.delete(try #require(try library.items(ItemQuery()).items.first).id)
            test.clock.advance(61)
            #expect(try library.purge().items == 1)
        }
        #expect(try Data(contentsOf: original) == bytes)
    }

    @Test("that are something else, or not there to be followed, are set aside or left with the reason")
    func refused() throws {
        try test.write("not music", to: "imports/bad.mp3")
        try test.write("not a movie", to: "imports/bad.mp4")
        try MovieSource.make(test.url("imports/broken.mp4"), ["-movflags", "frag_keyframe+empty_moov"])
        try test.write("a text", to: "imports/notes.txt")
        try test.write("half", to: "imports/.half.mp3")
        try music("elsewhere/real.mp3")
        try FileManager.default.createSymbolicLink(
            at: test.url("imports/link.mp3"),
            withDestinationURL: test.url("elsewhere/real.mp3")
        )
        try FileManager.default.createSymbolicLink(
            at: test.url("imports/folder"),
            withDestinationURL: test.url("elsewhere")
        )
        try test.with { library in
            let report = try take(library)
            #expect(report.taken.isEmpty)
            let refused = ["imports/bad.mp3", "imports/bad.mp4", "imports/broken.mp4", "imports/notes.txt"]
            #expect(report.refused.map(\.path).sorted() == refused)
            #expect(report.refused.allSatisfy { !$0.reason.isEmpty })
            #expect(test.exists("imports/refused/bad.mp3") && test.exists("imports/.half.mp3"))
            #expect(test.exists("imports/link.mp3") && test.exists("elsewhere/real.mp3"))
            #expect(try take(library) == Imports())
            // Another one of the same name.
            try test.write("not music either", to: "imports/bad.mp3")
            #expect(try take(library).refused.count == 1)
        }
    }

    @Test("are taken over whatever the library's folder is called and however the ending is written, and not twice")
    func names() throws {
        try music("my odd.library/imports/song.MP3.mp3")
        let folder = test.url("my odd.library").path
        try FileManager.default.moveItem(
            atPath: folder + "/imports/song.MP3.mp3",
            toPath: folder + "/imports/12\" Größe.MP3"
        )
        let library = try Library(folder: folder, clock: test.clock.read)
        defer { try? library.close() }
        let report = try take(library)
        #expect(report.refused.isEmpty && report.taken.count == 1, "\(report)")
        #expect(report.taken.first?.hasSuffix("/12\" Größe.mp3") == true)
        #expect(try library.reconcile { try LibraryFile.inspect($0) }.isClean)
        #expect(try library.items(ItemQuery()).items.count == 1)
    }

    @Test("that cannot be moved stop nothing else, and are told once")
    func stuck() throws {
        try music("imports/good.mp3")
        try test.write("not music", to: "imports/bad.mp3")
        // No folder can be made in its place.
        try test.write("a file", to: "imports/refused")
        try test.with { library in
            let report = try take(library)
            #expect(report.taken.count == 1)
            #expect(Set(report.refused.map(\.path)) == ["imports/bad.mp3", "imports/refused"])
            #expect(try take(library) == Imports())
        }
    }

    @Test("of one name are both kept")
    func sameName() throws {
        try music("imports/song.mp3", title: "First")
        try test.with { library in
            _ = try take(library)
            try music("imports/song.mp3", title: "Second")
            #expect(try take(library).taken.count == 1)
            #expect(Set(try library.items(ItemQuery()).items.map(\.facts.sessionName)) == ["First", "Second"])
        }
    }

    @Test("wait until they are unchanged for some seconds")
    func settles() throws {
        try music("imports/song.mp3")
        let now = test.clock.read().wall / 1_000_000
        func change(_ time: Int64) throws {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: Double(time))],
                ofItemAtPath: test.url("imports/song.mp3").path
            )
        }
        try test.with { library in
            try change(now - 2)
            #expect(try take(library) == Imports())
            try change(now - 6)
            #expect(try take(library).taken.count == 1)
        }
    }
}
