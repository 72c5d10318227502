import Foundation
import Glibc
import Library
import Testing

@Suite("The catalogue and the disk")
struct ReconcileTests {
    private let test: TestLibrary

    init() throws { test = try TestLibrary() }

    private func reconcile(_ library: Library) throws -> Reconciliation {
        try library.reconcile { try TestLibrary.inspect($0) }
    }

    @Test("files that the catalogue does not know are adopted, with what they say about themselves")
    func adopt() throws {
        let path = try test.write(TestLibrary.facts(5), companions: [".jpg", ".vtt", ".000.jpg"])
        try test.write(TestLibrary.facts(3, device: "phone-2", isComplete: false))
        try test.with { library in
            let report = try reconcile(library)
            #expect(report.adopted == 2)
            let items = try library.items(ItemQuery()).items
            #expect(items.map(\.facts.device) == ["phone-1", "phone-2"])
            #expect(items.map(\.state) == [.complete, .interrupted])
            #expect(items.map(\.hasThumbnail) == [true, false])
            #expect(items.map(\.hasStoryboard) == [true, false])
            #expect(items.map(\.path).first == path)
            let again = try reconcile(library)
            #expect(again.isClean)
        }
    }

    @Test("a crash between a file and its row, in either order, heals")
    func crashAtBegin() throws {
        let first = TestLibrary.facts(0, bytes: 200, isComplete: false)
        let second = TestLibrary.facts(1, isComplete: false)
        try test.with { library in
            _ = try library.begin(second, path: LibraryLayout.path(for: second))
        }
        try test.write(first)
        try test.with { library in
            let report = try reconcile(library)
            #expect((report.adopted, report.missing) == (1, 1))
            let states = try library.items(ItemQuery()).items.map(\.state)
            #expect(states == [.missing, .interrupted])
        }
    }

    @Test("items that were being recorded become what their file says", arguments: [true, false])
    func ended(isComplete: Bool) throws {
        let begun = TestLibrary.facts(0, labels: ["a": "b"], bytes: 0, isComplete: false)
        let id = try test.with { try $0.begin(begun, path: LibraryLayout.path(for: begun)) }
        try test.write(TestLibrary.facts(0, bytes: 5000, isComplete: isComplete))
        try test.with { library in
            let report = try reconcile(library)
            #expect(report.interrupted == (isComplete ? 0 : 1))
            let item = try #require(try library.item(id))
            #expect(item.state == (isComplete ? .complete : .interrupted))
            #expect((item.facts.bytes, item.facts.duration) == (5000, 9 * TestLibrary.second))
            #expect(item.facts.labels == ["a": "b"], "the catalogue's labels stay")
        }
    }

    @Test("a file that is gone is marked missing, and is found when it comes back")
    func missing() throws {
        let facts = TestLibrary.facts(0)
        let path = try test.write(facts, companions: [".jpg", ".vtt"])
        try test.with { library in
            let id = try library.addComplete(facts)
            try library.pin(id, true)
            try test.remove(path)
            var report = try reconcile(library)
            #expect((report.missing, report.orphans) == (1, 2))
            var item = try #require(try library.item(id))
            #expect(item.state == .missing)
            report = try reconcile(library)
            #expect(report.isClean)
            try test.write(facts)
            report = try reconcile(library)
            #expect((report.found, report.adopted) == (1, 0))
            item = try #require(try library.item(id))
            #expect(item.state == .complete)
            #expect(item.isPinned)
        }
    }

    @Test("a file of another size is inspected again, and one of the same size is not")
    func changed() throws {
        let facts = TestLibrary.facts(0)
        try test.write(facts)
        try test.with { library in
            try library.addComplete(facts)
            var inspected = 0
            _ = try library.reconcile {
                inspected += 1
                return try TestLibrary.inspect($0)
            }
            #expect(inspected == 0)
            try test.write(TestLibrary.facts(0, bytes: 777))
            let report = try reconcile(library)
            #expect(report.changed == 1)
            let bytes = try library.totals()["phone-1"]?.bytes
            #expect(bytes == 777)
        }
    }

    @Test("a file that is completed when it is inspected has its new size, whether it was known or not")
    func completed() throws {
        let known = TestLibrary.facts(0, bytes: 200, isComplete: false)
        _ = try test.with { try $0.begin(known, path: LibraryLayout.path(for: known)) }
        let paths = [try test.write(known), try test.write(TestLibrary.facts(1, bytes: 300, isComplete: false))]
        try test.with { library in
            var sizes: [Int64] = []
            _ = try library.reconcile { path in
                let facts = try TestLibrary.inspect(path)
                let file = try #require(FileHandle(forWritingAtPath: path))
                try file.seekToEnd()
                try file.write(contentsOf: Data(repeating: 0, count: 50))
                sizes.append(Int64(try file.offset()))
                return facts
            }
            let items = try library.items(ItemQuery()).items
            #expect(Set(items.map(\.path)) == Set(paths))
            #expect(items.map(\.facts.bytes).sorted() == sizes.sorted() && sizes.count == 2)
        }
    }

    @Test("files that cannot be read are kept, and listed with the reason")
    func unreadable() throws {
        let folder = "recordings/phone-1/2023-11-14/"
        try test.write("rubbish", to: folder + "rubbish.mp4")
        try test.write("", to: folder + "empty.mp4")
        var facts = TestLibrary.facts(0)
        facts.recording = "not a UUID"
        try test.write(facts)
        try test.with { library in
            let report = try reconcile(library)
            #expect(report.adopted == 0)
            #expect(report.problems.count == 3)
            #expect(report.problems.contains { $0.reason == "It is not an MP4 file." })
            #expect(report.problems.contains { $0.reason.contains("not a UUID") })
            #expect(test.exists(folder + "rubbish.mp4"))
        }
    }

    @Test("a recording of which nothing was written is removed")
    func nothingWritten() throws {
        let facts = TestLibrary.facts(0, isComplete: false)
        let path = LibraryLayout.path(for: facts)
        _ = try test.with { try $0.begin(facts, path: path) }
        try test.write("", to: path)
        try test.with { library in
            let report = try reconcile(library)
            #expect(report.deleted == 1 && report.problems.isEmpty && !test.exists(path))
            #expect(try library.items(ItemQuery()).items.isEmpty)
            #expect(try reconcile(library).isClean)
        }
    }

    @Test("a known file that has become unreadable counts as interrupted, and is listed")
    func spoilt() throws {
        let facts = TestLibrary.facts(0)
        let path = try test.write(facts)
        try test.with { library in
            let id = try library.addComplete(facts)
            try test.write("spoilt", to: path)
            let report = try reconcile(library)
            #expect(report.problems.map(\.path) == [path])
            let item = try library.item(id)
            #expect(item?.state == .interrupted)
            #expect(item?.facts.bytes == 6)
        }
    }

    @Test("links are not followed, whether they are files, folders, or what belongs to a file")
    func links() throws {
        let outside = try TestLibrary()
        let real = try outside.write(TestLibrary.facts(0))
        let folder = "recordings/phone-1/2023-11-14/"
        let path = try test.write(TestLibrary.facts(1))
        let files = FileManager.default
        try files.createSymbolicLink(at: test.url(folder + "link.mp4"), withDestinationURL: outside.url(real))
        try files.createSymbolicLink(at: test.url(folder + "gone.jpg"), withDestinationURL: outside.url(real))
        try files.createSymbolicLink(
            at: test.url("recordings/phone-1/2023-11-15"),
            withDestinationURL: outside.url("recordings/phone-1/2023-11-14")
        )
        try files.createSymbolicLink(
            at: test.url("recordings/phone-9"),
            withDestinationURL: outside.url("recordings/phone-1")
        )
        try test.with { library in
            let report = try reconcile(library)
            #expect(report.adopted == 1)
            #expect(report.problemCount == 4)
            // A deletion removes a link, never what it points to.
            let id = try #require(try library.items(ItemQuery()).items.first?.id)
            try files.createSymbolicLink(
                at: test.url(LibraryLayout.companion(of: path, ending: ".jpg")),
                withDestinationURL: outside.url(real)
            )
            try library.delete(id)
            test.clock.advance(60)
            _ = try library.purge()
        }
        #expect(outside.exists(real))
        #expect(!test.exists(path))
    }

    @Test("names with odd bytes, folders and other files are left alone and listed")
    func oddNames() throws {
        let folder = "recordings/phone-1/2023-11-14/"
        try test.write(TestLibrary.facts(0))
        let odd = test.url(folder).path + "/"
        for name in [[0xFF, 0xFE], [0xC3, 0x28], [0x0A], [0x22, 0x27, 0x25]] as [[UInt8]] {
            let path = Array(odd.utf8) + name + Array(".mp4".utf8) + [0]
            let file = path.withUnsafeBufferPointer { bytes in
                bytes.withMemoryRebound(to: CChar.self) { open($0.baseAddress!, O_WRONLY | O_CREAT, 0o600) }
            }
            #expect(file >= 0)
            close(file)
        }
        try test.write("x", to: folder + "notes.txt")
        try test.write("x", to: "recordings/stray.mp4")
        try test.write("x", to: "recordings/bad device/2023-11-14/a.mp4")
        try FileManager.default.createDirectory(at: test.url(folder + "folder.mp4"), withIntermediateDirectories: true)
        try test.with { library in
            let report = try reconcile(library)
            #expect(report.adopted == 1)
            #expect(report.problemCount == 8)
            #expect(test.exists(folder + "notes.txt"))
            #expect(test.exists("recordings/bad device/2023-11-14/a.mp4"))
        }
    }

    @Test("thumbnails and storyboards without their file are removed, and empty folders too")
    func orphans() throws {
        let folder = "recordings/phone-1/2023-11-14/"
        for name in ["a.jpg", "a.vtt", "a.000.jpg", "b.000.jpg"] { try test.write("x", to: folder + name) }
        try test.with { library in
            let report = try reconcile(library)
            #expect(report.orphans == 4)
        }
        #expect(!test.exists("recordings/phone-1"))
        #expect(test.exists("recordings"))
    }

    @Test("an item that this process is recording is left alone")
    func live() throws {
        let facts = TestLibrary.facts(0, bytes: 300, isComplete: false)
        try test.with { library in
            let id = try library.begin(facts, path: LibraryLayout.path(for: facts))
            try test.write(facts)
            let report = try reconcile(library)
            #expect(report.isClean)
            let item = try library.item(id)
            #expect(item?.state == .recording)
        }
    }

    @Test("thousands of files are adopted, found unchanged, and missed together")
    func thousands() throws {
        for time in 0..<3000 as Range<Int64> {
            try test.write(TestLibrary.facts(time * 60, device: "phone-\(time % 7)", bytes: 200))
        }
        try test.with { library in
            var report = try reconcile(library)
            #expect(report.adopted == 3000)
            report = try reconcile(library)
            #expect(report.isClean)
            try test.remove("recordings")
            try FileManager.default.createDirectory(at: test.url("recordings"), withIntermediateDirectories: false)
            report = try reconcile(library)
            #expect(report.missing == 3000)
            let bytes = try library.totals().values.reduce(0) { $0 + $1.bytes }
            #expect(bytes == 0)
        }
    }
}
