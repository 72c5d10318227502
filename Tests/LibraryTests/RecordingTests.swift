import Foundation
import Library
import Testing

@Suite("Recordings in the catalogue")
struct RecordingTests {
    private let test: TestLibrary
    private let library: Library

    init() throws {
        test = try TestLibrary()
        library = try test.open()
    }

    @Test("an item keeps what its recorder says, from its begin to its end")
    func life() throws {
        var facts = TestLibrary.facts(
            0,
            name: "login",
            labels: ["build": "17", "lane": "smoke ✓"],
            owner: "ci",
            isComplete: false
        )
        facts.bytes = 0
        let path = LibraryLayout.path(for: facts)
        #expect(path == "recordings/phone-1/2023-11-14/00000000-0000-4000-8000-000000000000-0.mp4")
        let id = try library.begin(facts, path: path)
        #expect(id == facts.start)
        var item = try #require(try library.item(id))
        #expect(item.facts == facts)
        #expect(item.path == path)
        #expect(item.state == .recording)
        #expect(!item.isPinned && !item.hasThumbnail && !item.hasStoryboard)
        #expect(item.added == TestLibrary.start)

        let gaps = [ItemFacts.Gap(start: 1, length: 2, reason: "agent_lost")]
        try library.update([ItemProgress(id: id, duration: 3, bytes: 4, keyframes: 5, gaps: gaps)])
        item = try #require(try library.item(id))
        #expect((item.facts.duration, item.facts.bytes, item.facts.keyframes) == (3, 4, 5))
        #expect(item.facts.gaps == gaps)

        facts = TestLibrary.facts(0, labels: ["build": "18"])
        try library.finish(id, facts)
        item = try #require(try library.item(id))
        #expect(item.state == .complete)
        #expect(item.facts.bytes == 1000)
        #expect(item.facts.labels["build"] == "17", "labels belong to the catalogue after the begin")
        #expect(throws: LibraryError.notRecording(id)) { try library.finish(id, facts) }
        #expect(throws: LibraryError.unknownItem(5)) { try library.finish(5, facts) }
        try library.update([ItemProgress(id: id, duration: 0, bytes: 0, keyframes: 0)])
        let after = try library.item(id)
        #expect(after == item, "late progress is ignored")

        try library.setCompanions(id, thumbnail: true)
        try library.setCompanions(id, storyboard: true)
        item = try #require(try library.item(id))
        #expect(item.hasThumbnail && item.hasStoryboard)
    }

    @Test("a file that was not finalised is interrupted")
    func interrupted() throws {
        let facts = TestLibrary.facts(0, isComplete: false)
        let id = try library.addComplete(facts)
        let state = try library.item(id)?.state
        #expect(state == .interrupted)
    }

    @Test("ids follow the start, and the same start gives the next id")
    func ids() throws {
        let late = try library.addComplete(TestLibrary.facts(9))
        let early = try library.addComplete(TestLibrary.facts(3))
        var twin = TestLibrary.facts(3)
        twin.number = 1
        let next = try library.addComplete(twin)
        #expect(next == early + 1)
        let all = try library.ids()
        #expect(all == [late, next, early])
    }

    @Test("values beyond their limits are refused with a reason")
    func limits() throws {
        let faults: [(inout ItemFacts) -> Void] = [
            { $0.recording = "x" }, { $0.device = "../etc" }, { $0.device = "" }, { $0.start = 0 },
            { $0.start = .max }, { $0.bytes = -1 }, { $0.fps = .nan }, { $0.labels = ["": "x"] },
            { $0.labels = ["a": String(repeating: "x", count: 129)] }, { $0.labels = ["a": "x\ny"] },
            { $0.labels = Dictionary(uniqueKeysWithValues: (0..<17).map { ("\($0)", "") }) },
            { $0.sessionName = "\u{1F}" }, { $0.gaps[0].length = -1 },
            { $0.tracks = Array(repeating: ItemFacts.Track(codec: "a", kind: "b"), count: 17) },
        ]
        for (place, fault) in faults.enumerated() {
            var facts = TestLibrary.facts(0)
            let path = LibraryLayout.path(for: facts)
            fault(&facts)
            let error = #expect(throws: LibraryError.self, "fault \(place)") {
                try library.begin(facts, path: path)
            }
            let isInvalid = if case .invalid? = error { true } else { false }
            #expect(isInvalid, "fault \(place)")
        }
        let all = try library.ids()
        #expect(all.isEmpty)
    }

    @Test(
        "paths that leave the layout are refused",
        arguments: [
            "", "x.mp4", "/etc/passwd", "recordings/a/b.mp4", "recordings/../a/b.mp4", "recordings/a/b/../c.mp4",
            "recordings/a/b/c/d.mp4", "recordings/a/b/.mp4", "recordings/a/b/.c.mp4", "recordings/a/b/c.jpg",
            "recordings/a/b/\u{1}.mp4", "elsewhere/a/b/c.mp4", "recordings//b/c.mp4",
        ]
    )
    func paths(path: String) throws {
        #expect(throws: LibraryError.badPath(path)) { try library.begin(TestLibrary.facts(0), path: path) }
        #expect(throws: LibraryError.badPath(path)) { try library.prepareFolder(for: path) }
    }

    @Test("a path belongs to one item, also while that is being deleted")
    func taken() throws {
        let facts = TestLibrary.facts(0)
        let path = LibraryLayout.path(for: facts)
        let id = try library.addComplete(facts)
        #expect(throws: LibraryError.pathTaken(path)) { try library.begin(facts, path: path) }
        try library.delete(id)
        #expect(throws: LibraryError.pathTaken(path)) { try library.begin(facts, path: path) }
    }

    @Test("folders and files are for their owner only")
    func permissions() throws {
        let path = try library.prepareFolder(for: LibraryLayout.path(for: TestLibrary.facts(0)))
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        for (path, wanted) in [
            (folder, 0o700), (test.folder + "/recordings", 0o700), (test.folder + "/catalogue.sqlite", 0o600),
            (test.folder + "/catalogue.sqlite-wal", 0o600),
        ] {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == wanted, "\(path)")
        }
    }

    @Test("totals count items and bytes of each device and owner at every change")
    func totals() throws {
        func phone() throws -> LibraryTotals? { try library.totals()["phone-1"] }
        var facts = TestLibrary.facts(0, owner: "ci", bytes: 0)
        let id = try library.begin(facts, path: LibraryLayout.path(for: facts))
        try library.update([ItemProgress(id: id, duration: 1, bytes: 400, keyframes: 1)])
        var now = try phone()
        #expect(now == LibraryTotals(items: 1, bytes: 400))
        facts.bytes = 500
        try library.finish(id, facts)
        try library.addComplete(TestLibrary.facts(1))
        now = try phone()
        #expect(now == LibraryTotals(items: 2, bytes: 1500))
        var owner = try library.ownerTotals()["ci"]
        #expect(owner == LibraryTotals(items: 1, bytes: 500))
        try library.delete(id)
        now = try phone()
        #expect(now == LibraryTotals(items: 1, bytes: 1000))
        try library.undelete(id)
        owner = try library.ownerTotals()["ci"]
        #expect(owner == LibraryTotals(items: 1, bytes: 500))
        _ = try library.reconcile { try TestLibrary.inspect($0) }
        now = try phone()
        #expect(now == LibraryTotals(items: 2, bytes: 0), "missing files have no bytes")
    }
}
