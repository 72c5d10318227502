import Foundation
import GRDB
import Library
import TestSupport
import Testing

@Suite("A copy of the catalogue")
struct CopyTests {
    private let test: TestLibrary
    private let library: Library
    private let scratch: Scratch

    init() throws {
        test = try TestLibrary()
        library = try test.open()
        scratch = try Scratch()
    }

    private var path: String { scratch.file("catalogue.sqlite").path }

    /// Brings the copy up to date, as a caller on another machine does. Returns the bytes on the way.
    @discardableResult
    private func update(_ scope: DeviceScope = .all) throws -> Data {
        let mark = try? CatalogueCopy(path).mark()
        let copied = try library.copy(since: mark, scope: scope)
        let bytes = try #require(copied.file.read(at: 0, count: Int(copied.file.length)))
        let file = scratch.file("new").path
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        try CatalogueCopy.update(path, with: file, since: mark)
        #expect(try CatalogueCopy(path).mark() == copied.mark)
        #expect(!FileManager.default.fileExists(atPath: file))
        return Data(bytes)
    }

    private func items(_ list: (ItemQuery) throws -> ItemPage) throws -> [Item] {
        var query = ItemQuery()
        query.limit = 1000
        return try list(query).items
    }

    @Test(
        "has what the caller may see, after any changes",
        arguments: [DeviceScope.all, .only(["phone-1", "phone-2"]), .only([])]
    )
    func follows(scope: DeviceScope) throws {
        var generator = SeededGenerator(seed: 11)
        var ids: [Int64] = []
        for time in 0..<200 as Range<Int64> {
            let facts = TestLibrary.facts(
                time,
                device: "phone-\(Int.random(in: 1...4, using: &generator))",
                name: ["Login", nil].randomElement(using: &generator) ?? nil,
                labels: ["lane": "\(Int.random(in: 1...3, using: &generator))"],
                owner: ["ci", "ann", nil].randomElement(using: &generator) ?? nil
            )
            let id = try library.addComplete(facts)
            ids.append(id)
            let other = ids.randomElement(using: &generator) ?? id
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: try? library.delete(other)
            case 1: try? library.undelete(other)
            case 2: try? library.pin(other, Bool.random(using: &generator))
            default: _ = try? library.label(other, ["lane": nil, "fixed": "yes"])
            }
            guard time % 9 == 0 else { continue }
            try update(scope)
            let copy = try CatalogueCopy(path)
            #expect(try items(copy.items) == items { try library.items($0, scope: scope) })
            var query = ItemQuery()
            query.text = "login fix"
            query.labels = ["fixed": "yes"]
            #expect(try copy.items(query) == library.items(query, scope: scope))
            let (count, bytes) = (try copy.totals().items, try copy.totals().bytes)
            #expect(try items(copy.items).count == Int(count))
            #expect(try items(copy.items).reduce(0) { $0 + $1.facts.bytes } == bytes)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: test.folder).filter { $0.contains("copy") } == [])
    }

    @Test("brings only what has changed, and all of it to a caller of another scope or another database")
    func differences() throws {
        for time in 0..<300 as Range<Int64> {
            try library.addComplete(TestLibrary.facts(time, device: time % 2 == 0 ? "even" : "odd"))
        }
        let whole = try update()
        try library.addComplete(TestLibrary.facts(300, device: "odd"))
        let difference = try update()
        // An empty catalogue has 60 pages.
        #expect(difference.count < whole.count - 50_000)
        #expect(try items(try CatalogueCopy(path).items).count == 301)
        try update(.only(["odd"]))
        #expect(try items(try CatalogueCopy(path).items).count == 151)
        try update()
        #expect(try items(try CatalogueCopy(path).items).count == 301)
    }

    @Test("contains no bytes of other devices or of deleted items")
    func leaks() throws {
        try library.addComplete(TestLibrary.facts(1, device: "open", labels: ["word": "visible"]))
        try library.addComplete(TestLibrary.facts(2, device: "hidden-device", labels: ["word": "hiddenword"]))
        let deleted = try library.addComplete(TestLibrary.facts(3, device: "open", labels: ["word": "deletedword"]))
        try library.delete(deleted)
        for (scope, absent) in [
            (DeviceScope.all, ["deletedword"]), (.only(["open"]), ["hidden-device", "hiddenword", "deletedword"]),
        ] {
            let copied = try library.copy(scope: scope)
            let bytes = Data(try #require(copied.file.read(at: 0, count: Int(copied.file.length))))
            #expect(bytes.range(of: Data("visible".utf8)) != nil)
            for word in absent { #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word)") }
        }
    }

    @Test("refuses files that are not what a library sends, and stays as it was")
    func hostile() throws {
        try library.addComplete(TestLibrary.facts(1))
        let whole = try update()
        let mark = try CatalogueCopy(path).mark()
        let file = scratch.file("hostile").path
        func expectRefusal(_ bytes: Data, _ change: ((Database) throws -> Void)? = nil) throws {
            try bytes.write(to: URL(fileURLWithPath: file))
            if let change { try DatabaseQueue(path: file).write(change) }
            #expect(throws: LibraryError.self) { try CatalogueCopy.update(path, with: file, since: nil) }
            #expect(try CatalogueCopy(path).mark() == mark)
            #expect(try items(try CatalogueCopy(path).items).count == 1)
        }
        try expectRefusal(Data())
        try expectRefusal(Data("not a database, but long enough to be one".utf8))
        try expectRefusal(whole.prefix(whole.count / 2))
        try expectRefusal(whole) { try $0.execute(sql: "PRAGMA user_version = 99") }
        try expectRefusal(whole) {
            try $0.execute(sql: "CREATE TRIGGER more AFTER INSERT ON item BEGIN DELETE FROM item; END")
        }
        try expectRefusal(whole) { try $0.execute(sql: "DROP TRIGGER itemAdded") }
        // A header that asks for a log beside the file.
        try expectRefusal(whole.prefix(18) + [2, 2] + whole.dropFirst(20))
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<200 {
            var bytes = whole
            for _ in 0..<8 {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            try bytes.write(to: URL(fileURLWithPath: file))
            // Some changes hit nothing. Whatever is accepted can be listed or is refused then.
            let other = scratch.file("other").path
            guard (try? CatalogueCopy.update(other, with: file, since: nil)) != nil else { continue }
            _ = try? items(try CatalogueCopy(other).items)
        }
    }

    @Test("is refused if the disk has no room for it")
    func room() throws {
        try library.addComplete(TestLibrary.facts(1))
        #expect(throws: LibraryError.self) { try library.copy(leastFree: .max) }
        #expect(throws: LibraryError.self) { try library.copy(scope: .only(["phone-1"]), leastFree: 1 << 60) }
    }

    @Test("is continued after an update that broke off, and never by changes since another moment")
    func interrupted() throws {
        try library.addComplete(TestLibrary.facts(1))
        try update()
        let mark = try CatalogueCopy(path).mark()
        try library.addComplete(TestLibrary.facts(2))
        let copied = try library.copy(since: mark)
        let bytes = Data(try #require(copied.file.read(at: 0, count: Int(copied.file.length))))
        let file = scratch.file("new").path
        // The copy is gone, or has moved on, while the changes were under way.
        try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
        try bytes.write(to: URL(fileURLWithPath: file))
        #expect(throws: LibraryError.self) { try CatalogueCopy.update(path, with: file, since: mark) }
        try FileManager.default.moveItem(atPath: path + ".old", toPath: path)
        try update()
        try bytes.write(to: URL(fileURLWithPath: file))
        #expect(throws: LibraryError.self) { try CatalogueCopy.update(path, with: file, since: mark) }
        #expect(try items(try CatalogueCopy(path).items).count == 2)
        // What a killed writer leaves is taken back by the next reader, and does not spoil another file in its place.
        try Data("no journal".utf8).write(to: URL(fileURLWithPath: path + "-journal"))
        try update(.only(["phone-1"]))
        #expect(try items(try CatalogueCopy(path).items).count == 2)
    }

    @Test("is whole again after a restart of the machine, which may have taken changes back")
    func restart() throws {
        let test = try TestLibrary()
        let mark = try test.with { library in
            try library.addComplete(TestLibrary.facts(1))
            return try library.copyState(since: nil).mark
        }
        #expect(try test.with { try $0.copyState(since: mark).isChanges })
        test.clock.restart(off: 5)
        #expect(try !test.with { try $0.copyState(since: mark).isChanges })
    }

    @Test("that a crash has left is removed when the library opens")
    func leftover() throws {
        let test = try TestLibrary()
        try test.write("half", to: "catalogue.copy-7.sqlite")
        try test.write("half", to: "catalogue.copy-7.sqlite-journal")
        try test.with { _ in #expect(!test.exists("catalogue.copy-7.sqlite")) }
        #expect(!test.exists("catalogue.copy-7.sqlite-journal"))
    }
}
