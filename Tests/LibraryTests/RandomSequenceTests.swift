import Foundation
import GRDB
import Library
import TestSupport
import Testing

@Suite("Random sequences of calls, crashes and removed files")
struct RandomSequenceTests {
    /// A library, with what its recorders are writing.
    private struct Run {
        let test: TestLibrary
        var generator: SeededGenerator
        var time: Int64 = 0
        var recording: [Int64: ItemFacts] = [:]
        var deleted: [Int64] = []

        mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

        mutating func step(_ library: Library) throws {
            let known = try library.items(ItemQuery()).items
            switch Int.random(in: 0..<11, using: &generator) {
            case 0...2:
                time += 1
                let facts = TestLibrary.facts(
                    time,
                    device: "phone-\(time % 3)",
                    labels: ["n": "\(time % 4)"],
                    bytes: 200,
                    isComplete: false
                )
                if chance(90) { recording[try library.begin(facts, path: LibraryLayout.path(for: facts))] = facts }
                if chance(90) { try test.write(facts, companions: chance(30) ? [".jpg", ".000.jpg"] : []) }
            case 3:
                try library.update(
                    recording.keys.sorted().map { ItemProgress(id: $0, duration: 1, bytes: 150, keyframes: 1) }
                )
            case 4...5:
                guard let (id, begun) = recording.randomElement(using: &generator) else { return }
                var facts = begun
                (facts.bytes, facts.isComplete) = (Int64.random(in: 200...300, using: &generator), chance(80))
                // A crash may come between the file's end and the row's.
                try test.write(facts)
                if chance(80) {
                    try library.finish(id, facts)
                    recording[id] = nil
                }
            case 6:
                guard let item = known.randomElement(using: &generator), item.state != .recording else { return }
                try library.delete(item.id)
                deleted.append(item.id)
            case 7:
                guard let id = deleted.randomElement(using: &generator) else { return }
                do throws(LibraryError) {
                    try library.undelete(id)
                } catch {
                    guard case .unknownItem = error else { throw error }
                }
            case 8:
                test.clock.advance(30)
                _ = try library.purge()
            case 9:
                guard let item = known.randomElement(using: &generator) else { return }
                if test.exists(item.path) { try test.remove(item.path) }
            default:
                guard let item = known.randomElement(using: &generator) else { return }
                try library.label(item.id, ["n": "\(time % 5)", "x": chance(50) ? "y" : nil])
                try library.setCompanions(item.id, thumbnail: chance(50))
            }
        }

        /// Checks that the catalogue says what the disk has.
        func check(_ library: Library) throws {
            var files: [String: ItemFacts] = [:]
            let root = test.scratch.folder.path + "/"
            for name in try FileManager.default.subpathsOfDirectory(atPath: test.url("recordings").path) {
                let path = "recordings/" + name
                if path.hasSuffix(".mp4") {
                    files[path] = try TestLibrary.inspect(root + path)
                } else if path.hasSuffix(".jpg") {
                    let stem = path.dropLast(path.hasSuffix(".000.jpg") ? 8 : 4)
                    #expect(test.exists(stem + ".mp4"), "an orphan: \(path)")
                }
            }
            var query = ItemQuery()
            query.limit = 1000
            let items = try library.items(query).items
            var sums: [String: LibraryTotals] = [:]
            for item in items {
                sums[item.facts.device, default: LibraryTotals()].items += 1
                guard item.state != .missing else {
                    #expect(files[item.path] == nil)
                    continue
                }
                let file = files.removeValue(forKey: item.path)
                #expect(item.facts.bytes == file?.bytes)
                #expect(item.state == (file?.isComplete == true ? .complete : .interrupted))
                #expect(item.hasThumbnail == test.exists(LibraryLayout.companion(of: item.path, ending: ".jpg")))
                sums[item.facts.device, default: LibraryTotals()].bytes += item.facts.bytes
            }
            #expect(files.isEmpty, "files without an item")
            let totals = try library.totals().filter { $0.value.items > 0 }
            #expect(totals == sums)
            for value in 0..<5 {
                query.labels = ["n": "\(value)"]
                let found = try library.ids(query)
                #expect(found == items.filter { $0.facts.labels["n"] == "\(value)" }.map(\.id))
            }
        }
    }

    @Test("after any of them, reconciling makes the catalogue and the disk agree", arguments: 0..<30 as Range<UInt64>)
    func agree(seed: UInt64) throws {
        var run = Run(test: try TestLibrary(), generator: SeededGenerator(seed: seed))
        var (mirror, mark): (Set<Int64>, String?) = ([], nil)
        for _ in 0..<4 {
            try run.test.with { library in
                for _ in 0..<40 { try run.step(library) }
            }
            // The relay has died: nothing is recorded any more.
            run.recording = [:]
            run.deleted = []
            if Bool.random(using: &run.generator) { run.test.clock.restart(off: 5) }
            try run.test.with { library in
                _ = try library.reconcile { try TestLibrary.inspect($0) }
                try run.check(library)
                let again = try library.reconcile { try TestLibrary.inspect($0) }
                #expect(again.isClean, "\(again)")
                // A follower that applies the changes has the same list. After a restart of the machine it lists again.
                let changes = try library.changes(since: mark)
                if mark != nil, !changes.isTooOld {
                    for change in changes.changes {
                        if change.isRemoved { mirror.remove(change.id) } else { mirror.insert(change.id) }
                    }
                } else {
                    mirror = Set(try library.ids())
                }
                mark = try library.changes(since: nil).mark
                let ids = try library.ids()
                #expect(mirror == Set(ids))
            }
            let queue = try DatabaseQueue(path: run.test.folder + "/catalogue.sqlite")
            let faults = try queue.write { db in
                try db.execute(sql: "INSERT INTO search (search) VALUES ('integrity-check')")
                return try String.fetchAll(db, sql: "PRAGMA integrity_check")
            }
            #expect(faults == ["ok"])
            let strays = try queue.read { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM itemLabel WHERE item NOT IN (SELECT id FROM item)")
            }
            #expect(strays == 0)
        }
    }
}
