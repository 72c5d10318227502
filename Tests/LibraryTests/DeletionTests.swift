import Foundation
import Library
import Testing

@Suite("Deletions in the library")
struct DeletionTests {
    private let test: TestLibrary

    init() throws { test = try TestLibrary() }

    private let facts = TestLibrary.facts(0, labels: ["lane": "smoke"])
    private let companions = [".jpg", ".vtt", ".000.jpg", ".001.jpg"]
    private var path: String { LibraryLayout.path(for: facts) }

    /// Whether any file of the item is left.
    private func isOnDisk() throws -> Bool {
        let folder = test.url(path).deletingLastPathComponent().path
        return !((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).isEmpty
    }

    @Test("a deleted item is hidden at once, and its files go after the grace period")
    func purge() throws {
        try test.write(facts, companions: companions)
        try test.with { library in
            let id = try library.addComplete(facts)
            try library.delete(id)
            let all = try library.ids()
            #expect(all.isEmpty)
            let item = try library.item(id)
            #expect(item == nil)
            #expect(throws: LibraryError.unknownItem(id)) { try library.delete(id) }
            test.clock.advance(59)
            var removal = try library.purge()
            #expect(removal.items == 0)
            #expect(test.exists(path))
            test.clock.advance(1)
            removal = try library.purge()
            #expect((removal.items, removal.bytes, removal.problems) == (1, 1000, []))
            let isOnDisk = try isOnDisk()
            #expect(!isOnDisk)
            #expect(throws: LibraryError.unknownItem(id)) { try library.undelete(id) }
        }
    }

    @Test("an item comes back as it was within the grace period")
    func undelete() throws {
        try test.write(facts)
        try test.with { library in
            let id = try library.addComplete(facts)
            try library.pin(id, true)
            let former = try library.item(id)
            try library.delete(id)
            test.clock.advance(59)
            try library.undelete(id)
            let item = try library.item(id)
            #expect(item == former)
            var query = ItemQuery()
            (query.labels, query.text, query.isPinned) = (["lane": "smoke"], "smoke", true)
            let found = try library.ids(query)
            #expect(found == [id])
            #expect(throws: LibraryError.unknownItem(id)) { try library.undelete(id) }
            try library.delete(id)
            test.clock.advance(60)
            #expect(throws: LibraryError.unknownItem(id)) { try library.undelete(id) }
        }
    }

    @Test(
        "steps of the wall clock neither shorten nor lengthen the grace period",
        arguments: [-1_000_000_000, 1_000_000_000]
    )
    func steps(seconds: Int64) throws {
        try test.with { library in
            let id = try library.addComplete(facts)
            try library.delete(id)
            test.clock.step(seconds)
            var removal = try library.purge()
            #expect(removal.items == 0)
            test.clock.advance(60)
            removal = try library.purge()
            #expect(removal.items == 1)
        }
    }

    @Test("an item that is being recorded is not deleted")
    func recording() throws {
        try test.with { library in
            let id = try library.begin(facts, path: path)
            #expect(throws: LibraryError.isRecording(id)) { try library.delete(id) }
        }
    }

    @Test("a deletion that a crash interrupted is finished at the next start, after any of its steps", arguments: 0...6)
    func crash(removed: Int) throws {
        try test.write(facts, companions: companions)
        let other = try test.write(TestLibrary.facts(1))
        try test.with { library in
            try library.addComplete(TestLibrary.facts(1))
            try library.delete(try library.addComplete(facts))
        }
        // The relay died after it had removed some of the files, in its order.
        for ending in [".000.jpg", ".001.jpg", ".jpg", ".vtt", ".mp4"].prefix(removed) {
            try test.remove(LibraryLayout.companion(of: path, ending: ending))
        }
        test.clock.restart(off: 1)
        try test.with { library in
            let report = try library.reconcile { try TestLibrary.inspect($0) }
            #expect(report.deleted == 1)
            #expect(report.problems == [])
            #expect((report.adopted, report.missing) == (0, 0))
            #expect(!test.exists(path))
            #expect(test.exists(other))
            let all = try library.ids()
            #expect(all.count == 1)
            let again = try library.reconcile { try TestLibrary.inspect($0) }
            #expect(again.isClean)
        }
    }

    @Test("a file that cannot be removed is reported and tried again, and the item stays hidden")
    func stubborn() throws {
        try FileManager.default.createDirectory(at: test.url(path), withIntermediateDirectories: true)
        try test.with { library in
            let id = try library.addComplete(facts)
            try library.delete(id)
            test.clock.advance(60)
            var removal = try library.purge()
            #expect(removal.problems.map(\.path) == [path])
            #expect(throws: LibraryError.unknownItem(id)) { try library.undelete(id) }
            try test.remove(path)
            removal = try library.purge()
            #expect(removal.items == 1)
        }
    }

    @Test("files of items with similar names stay")
    func neighbours() throws {
        let kept = ["a.mp4", "a.jpg", "ab.mp4", "ab.jpg", "a.001.mp4", "a.001.jpg", "a-0.mp4"]
        let removed = ["a.0.mp4", "a.0.jpg", "a.0.000.jpg"]
        let folder = "recordings/phone-1/2023-11-14/"
        for name in kept + removed { try test.write("x", to: folder + name) }
        try test.with { library in
            let id = try library.begin(facts, path: folder + "a.0.mp4")
            try library.finish(id, facts)
            try library.delete(id)
            test.clock.advance(60)
            _ = try library.purge()
        }
        for name in kept { #expect(test.exists(folder + name), "\(name)") }
        for name in removed { #expect(!test.exists(folder + name), "\(name)") }
    }

    @Test("changes name each item once, and removed ones as removed")
    func changes() throws {
        try test.with { library in
            let mark = try library.changes(since: nil).mark
            let first = try library.addComplete(facts)
            let second = try library.addComplete(TestLibrary.facts(1))
            try library.pin(first, true)
            try library.delete(second)
            let changes = try library.changes(since: mark)
            #expect(changes.changes == [.init(id: first, isRemoved: false), .init(id: second, isRemoved: true)])
            try library.undelete(second)
            let more = try library.changes(since: changes.mark)
            #expect(more.changes == [.init(id: second, isRemoved: false)])
            let none = try library.changes(since: more.mark)
            #expect(none.changes.isEmpty && !none.isTooOld && none.mark == more.mark)
            for wrong in ["", "x", ".", "0.0", mark + "99999", "a.b.c", mark.replacingOccurrences(of: ".", with: ".-")]
            {
                let answer = try library.changes(since: wrong)
                #expect(answer.isTooOld && answer.changes.isEmpty, "\(wrong)")
            }
        }
    }

    @Test("the log of changes has a bound, beyond which callers must list again")
    func manyChanges() throws {
        try test.with { library in
            let mark = try library.changes(since: nil).mark
            let items = (0..<12_000 as Range<Int64>).map {
                (facts: TestLibrary.facts($0), path: "recordings/a/b/\($0).mp4")
            }
            try library.importItems(items)
            let answer = try library.changes(since: mark)
            #expect(answer.isTooOld)
            let none = try library.changes(since: answer.mark)
            #expect(!none.isTooOld)
        }
    }
}
