import Foundation
import GRDB
import Glibc
import Library
import Testing

@Suite("Opening, backup and repair of a library")
struct OpeningTests {
    private let test: TestLibrary
    private var database: String { test.folder + "/catalogue.sqlite" }

    init() throws { test = try TestLibrary() }

    private func write(_ sql: String, to path: String? = nil) throws {
        let queue = try DatabaseQueue(path: path ?? database)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    private func rebuild() throws -> Reconciliation {
        try Library.rebuild(folder: test.folder, clock: test.clock.read) { try TestLibrary.inspect($0) }
    }

    @Test("a library keeps its items over a restart")
    func reopen() throws {
        let id = try test.with { try $0.addComplete(TestLibrary.facts(0)) }
        let ids = try test.with { try $0.ids() }
        #expect(ids == [id])
    }

    @Test("a second relay is refused while the first runs")
    func locked() throws {
        do {
            let library = try test.open()
            #expect(throws: LibraryError.inUse(folder: test.folder)) { try test.open() }
            #expect(throws: LibraryError.inUse(folder: test.folder)) { try rebuild() }
            try library.close()
        }
        _ = try test.open()
    }

    @Test("a copy of the lock's descriptor, which a program that is being launched has, does not keep the lock")
    func inherited() throws {
        let lock = test.folder + "/library.lock"
        let library = try test.open()
        let held = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(CInt.init).filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == lock
        }
        let copy = dup(try #require(held.first))
        defer { Glibc.close(copy) }
        try library.close()
        _ = consume library
        _ = try test.open()
    }

    @Test("a library whose disk is full is refused, says how much it needs, and opens once there is room")
    func full() throws {
        let error = #expect(throws: LibraryError.self) { try Library(folder: test.folder, leastFree: .max) }
        let text = try #require(error).description
        #expect(text.contains("KiB free, and it needs"))
        #expect(text.contains("Check the disk's free space"))
        _ = try test.open()
    }

    @Test("a newer schema is refused, naming both versions and what to do")
    func newer() throws {
        try test.with { _ in }
        try write("PRAGMA user_version = 7")
        let error = #expect(throws: LibraryError.newer(found: 7, known: 1)) { try test.open() }
        let text = try #require(error).description
        for part in ["7", "1", "Install the newer version", "move the catalogue away"] {
            #expect(text.contains(part))
        }
    }

    @Test(
        "a damaged catalogue is refused, names the command that repairs it, and is rebuilt from the files",
        arguments: [true, false]
    )
    func damaged(isWhole: Bool) throws {
        for time in 0..<50 as Range<Int64> { try test.write(TestLibrary.facts(time)) }
        try test.with { _ = try $0.reconcile { try TestLibrary.inspect($0) } }
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: database)))
        for place in bytes.indices where isWhole || place >= 100 { bytes[place] = 0x5A }
        try Data(bytes).write(to: URL(fileURLWithPath: database))
        let error = #expect(throws: LibraryError.self) { try test.with { try $0.ids() } }
        let text = try #require(error).description
        #expect(text.contains("is damaged"))
        #expect(text.contains("move the file away"))
        let report = try rebuild()
        #expect(report.adopted == 50)
        let ids = try test.with { try $0.ids() }
        #expect(ids.count == 50)
        #expect(test.exists("catalogue.sqlite.old"))
    }

    @Test("a file with another content is not taken for a catalogue")
    func foreign() throws {
        try test.with { _ in }
        try FileManager.default.removeItem(atPath: database)
        try test.write("This is a text, not a database. " + String(repeating: "x", count: 5000), to: "catalogue.sqlite")
        let error = #expect(throws: LibraryError.self) { try test.open() }
        let isDamaged = if case .damaged? = error { true } else { false }
        #expect(isDamaged)
    }

    @Test("folders and databases that are links are refused")
    func links() throws {
        let outside = try TestLibrary()
        try outside.with { _ in }
        let files = FileManager.default
        try files.createSymbolicLink(at: test.url("recordings"), withDestinationURL: outside.url("recordings"))
        #expect(throws: LibraryError.self) { try test.open() }
        try test.remove("recordings")
        try files.createSymbolicLink(
            at: test.url("catalogue.sqlite"),
            withDestinationURL: outside.url("catalogue.sqlite")
        )
        #expect(throws: LibraryError.self) { try test.open() }
    }

    @Test("values of an unexpected type in the database are an error, not the end")
    func types() throws {
        try test.with { _ = try $0.addComplete(TestLibrary.facts(0)) }
        try write("PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '')")
        try write("UPDATE item SET labels = 5, fps = 'x', state = 99")
        #expect(throws: LibraryError.self) { try test.with { try $0.ids() } }
    }

    @Test("a backup taken while recording is restored as it was, and followers list again")
    func backup() throws {
        let copy = test.folder + "/copy.sqlite"
        let (mark, ids) = try test.with { library in
            let facts = TestLibrary.facts(1)
            try library.addComplete(TestLibrary.facts(0))
            _ = try library.begin(facts, path: LibraryLayout.path(for: facts))
            try Library.backup(folder: test.folder, to: copy)
            try Library.backup(folder: test.folder, to: copy)
            try library.addComplete(TestLibrary.facts(2))
            return (try library.changes(since: nil).mark, try library.ids())
        }
        let mode = try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try Library.restore(folder: test.folder, from: copy)
        try test.with { library in
            let found = try library.ids()
            #expect(found == Array(ids.dropFirst()))
            let changes = try library.changes(since: mark)
            #expect(changes.isTooOld)
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: test.folder).sorted()
        #expect(left.filter { $0.contains(".new") } == [])
    }

    @Test("a backup that cannot be used is refused, and the catalogue stays")
    func badBackup() throws {
        let id = try test.with { try $0.addComplete(TestLibrary.facts(0)) }
        let bad = test.folder + "/bad.sqlite"
        try test.write("rubbish", to: "bad.sqlite")
        #expect(throws: LibraryError.self) { try Library.restore(folder: test.folder, from: bad) }
        try test.remove("bad.sqlite")
        #expect(throws: LibraryError.self) { try Library.restore(folder: test.folder, from: bad) }
        try write("CREATE TABLE other (a)", to: bad)
        #expect(throws: LibraryError.damaged(bad, reason: "it is not a catalogue")) {
            try Library.restore(folder: test.folder, from: bad)
        }
        try write("PRAGMA user_version = 9", to: bad)
        #expect(throws: LibraryError.newer(found: 9, known: 1)) {
            try Library.restore(folder: test.folder, from: bad)
        }
        let ids = try test.with { try $0.ids() }
        #expect(ids == [id])
    }

    @Test("a rebuild finds all files, and forgets pins and what is missing")
    func rebuilt() throws {
        let facts = TestLibrary.facts(0)
        try test.write(facts)
        try test.with { library in
            try library.pin(try library.addComplete(facts), true)
            try library.addComplete(TestLibrary.facts(1))
        }
        let report = try rebuild()
        #expect((report.adopted, report.problemCount) == (1, 0))
        let items = try test.with { try $0.items(ItemQuery()).items }
        #expect(items.map(\.id) == [facts.start])
        #expect(items.map(\.isPinned) == [false])
    }

    @Test("no query reads the whole table of items")
    func plans() throws {
        try test.with { _ in }
        let queue = try DatabaseQueue(path: database)
        try queue.read { db in
            for sql in Library.statements {
                let places = sql.count { $0 == "?" }
                let plan = try Row.fetchAll(
                    db,
                    sql: "EXPLAIN QUERY PLAN " + sql,
                    arguments: StatementArguments(
                        Array(repeating: sql.contains("MATCH") ? "\"a\"" : "1", count: places)
                    )
                ).map { String(describing: $0["detail"] ?? "") }
                #expect(
                    !plan.contains { $0.hasPrefix("SCAN item") && !$0.contains("INDEX itemAge") },
                    "\(sql): \(plan)"
                )
                // Lists come in order from their index.
                if !sql.contains("json_each") {
                    #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(sql): \(plan)")
                }
            }
        }
        #expect(Library.statements.count > 20)
    }
}
