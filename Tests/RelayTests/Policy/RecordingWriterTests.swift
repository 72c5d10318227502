import Foundation
import HeliographAPI
import Library
import Media
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

/// A writer with a library of its own. The time is that of the pictures.
private final class Writing {
    let scratch: Scratch
    let library: Library
    let figures = RecordingFigures { _ in }
    let writer: RecordingWriter
    private let pictures: [[UInt8]]
    private let plan: RecordingWriter.Plan

    init(_ when: RecordWhen, freeBytes: UInt64 = 0) throws {
        scratch = try Scratch()
        library = try Library(folder: scratch.file("library").path)
        pictures = try SourceStream(SourceSettings(name: "x264", keyframes: [0], pictures: 12)).accessUnits
        let facts = ItemFacts(
            recording: "7d0b1c8e-6f0a-4c8e-9d52-0f4f3f1c2a3b",
            number: 0,
            device: "default",
            session: 1,
            sessionName: nil,
            start: 1,
            anchor: 0,
            boot: "boot",
            fps: 30
        )
        plan = RecordingWriter.Plan(
            facts: facts,
            tracks: [.video(.h264)],
            epoch: 0,
            when: when,
            freeBytes: freeBytes
        )
        writer = RecordingWriter(plan, library: library, figures: figures)
    }

    /// Returns a writer with the same plan, as the next run of the relay would have after a crash.
    func another() throws -> RecordingWriter { RecordingWriter(plan, library: library, figures: figures) }

    /// The paths of the movies in the library's folder.
    func paths() throws -> [String] {
        let folder = scratch.file("library/recordings").path
        guard FileManager.default.fileExists(atPath: folder) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".mp4") }.sorted()
    }

    /// Hands over the picture of this number at a time, in ms.
    func take(_ number: Int, at milliseconds: Int64, _ flags: UnitFlags = [], to other: RecordingWriter? = nil) {
        var unit = SampleStream.accessUnit(number, key: number == 0)
        unit.bytes = pictures[number]
        unit.header.pts = milliseconds * 1000
        unit.header.flags.formUnion(flags)
        let media = MediaUnit(EncodedUnit(copying: unit), codec: .h264)
        (other ?? writer).take(.item(.unit(media)), now: unit.header.pts)
    }

    /// Lets the writer do what is due at a time, in ms.
    func tick(at milliseconds: Int64) { writer.tick(now: milliseconds * 1000) }

    /// The files, the oldest first: when each began, in ms from the first one, and its duration in ms.
    func files() throws -> [(start: Int64, duration: Int64)] {
        var query = ItemQuery()
        query.order = .oldestFirst
        let items = try library.items(query).items
        return items.map { item in
            ((item.facts.anchor - items[0].facts.anchor) / 1_000_000, item.facts.duration / 1000)
        }
    }
}

@Suite("The writer of a recording")
struct RecordingWriterTests {
    @Test("of changes alone ends its file when the screen is static, and begins the next one before the next change")
    func changesOnly() throws {
        let writing = try Writing(.changed)
        for number in 0..<10 { writing.take(number, at: Int64(number) * 33) }
        #expect(writing.figures.current.item != nil)
        writing.tick(at: 500)
        writing.tick(at: 10_000)
        #expect(writing.figures.current.item != nil)
        writing.tick(at: 10_400)
        #expect(writing.figures.current.item == nil && writing.figures.current.needsKeyframe)
        // The static screen's keyframe, and repeats of it.
        writing.take(0, at: 10_500, [.repeat, .skip])
        #expect(!writing.figures.current.needsKeyframe)
        writing.take(1, at: 10_533, [.repeat, .skip])
        writing.tick(at: 15_000)
        #expect(writing.figures.current.item == nil)
        writing.take(0, at: 20_500, [.repeat, .skip])
        writing.take(1, at: 23_000)
        #expect(writing.figures.current.item != nil)
        writing.writer.end(now: 24_000_000)
        let files = try writing.files()
        #expect(files.map(\.start) == [0, 20_500])
        #expect(files.map(\.duration) == [10_400, 3_500])
    }

    @Test("of changes alone asks for a keyframe if it has none to begin with")
    func missingKeyframe() throws {
        let writing = try Writing(.changed)
        writing.take(0, at: 0)
        writing.tick(at: 10_000)
        #expect(writing.figures.current.item == nil)
        writing.take(1, at: 12_000)
        #expect(writing.figures.current.item == nil && writing.figures.current.needsKeyframe)
        writing.take(0, at: 12_033)
        #expect(writing.figures.current.item != nil && !writing.figures.current.needsKeyframe)
    }

    @Test("asks for one keyframe after its disk was full, and waits for a change with it")
    func afterAFullDisk() throws {
        let writing = try Writing(.changed, freeBytes: .max)
        writing.take(0, at: 0)
        #expect(writing.figures.current.failure == .diskFull)
        // Nothing is left that a later file would meet.
        #expect(try writing.paths().isEmpty)
        writing.tick(at: 4000)
        writing.take(0, at: 5500, [.repeat, .skip])
        #expect(!writing.figures.current.needsKeyframe)
        writing.tick(at: 6000)
        #expect(writing.figures.current.needsKeyframe)
        writing.take(0, at: 6100, [.repeat, .skip])
        writing.tick(at: 6500)
        #expect(!writing.figures.current.needsKeyframe)
    }

    @Test("begins another file of a static screen if a track of sound comes, and not if it goes again at once")
    func tracks() throws {
        let writing = try Writing(.always)
        func tell(_ sound: [MediaTrack]) {
            writing.writer.take(.item(.tracks([.video(.h264)] + sound)), now: 100_000)
        }
        let opus = MediaTrack(id: 1, coding: .opus(.stereo))
        writing.take(0, at: 0)
        writing.take(1, at: 33)
        tell([opus])
        #expect(writing.figures.current.needsKeyframe)
        tell([])
        #expect(!writing.figures.current.needsKeyframe)
        writing.take(0, at: 2000, [.repeat, .skip])
        tell([opus])
        writing.take(0, at: 4000, [.repeat, .skip])
        #expect(!writing.figures.current.needsKeyframe)
        writing.writer.end(now: 5_000_000)
        #expect(try writing.files().map(\.start) == [0, 4000])
    }

    @Test("takes the next number if there is a file in its place")
    func takenPath() throws {
        let writing = try Writing(.always)
        writing.take(0, at: 0)
        writing.writer.end(now: 1_000_000)
        let another = try writing.another()
        writing.take(0, at: 2000, to: another)
        writing.take(0, at: 8000, to: another)
        another.end(now: 9_000_000)
        #expect(try writing.files().map(\.start) == [0, 8000])
        #expect(try writing.paths().map { $0.suffix(6) } == ["-0.mp4", "-1.mp4"])
    }

    @Test("tells a gap from the last picture before it, and none if the other agent goes on at once")
    func gaps() throws {
        let writing = try Writing(.always)
        writing.take(0, at: 0)
        writing.take(1, at: 33)
        writing.writer.take(.item(.sourceLost), now: 400_000)
        writing.take(2, at: 350)
        writing.writer.take(.item(.feed(.none)), now: 450_000)
        writing.take(3, at: 383)
        writing.writer.end(now: 1_000_000)
        var query = ItemQuery()
        query.order = .oldestFirst
        let gaps = try writing.library.items(query).items.flatMap(\.facts.gaps)
        #expect(gaps == [ItemFacts.Gap(start: 33_000, length: 317_000, reason: "source_lost")])
    }

    @Test("writes a thumbnail and a storyboard beside its file, and sheets as they are full")
    func storyboard() throws {
        let writing = try Writing(.always)
        let jpeg = try [UInt8](Data(contentsOf: Self.picture(writing.scratch)))
        writing.take(0, at: 1000)
        for number in 0..<25 { writing.writer.addPreview(jpeg, at: 1_000_000 + Int64(number) * 10_000_000) }
        let item = try #require(try writing.library.items(ItemQuery()).items.first)
        #expect(item.hasThumbnail && !item.hasStoryboard)
        writing.writer.end(now: 300_000_000)
        #expect(try writing.library.items(ItemQuery()).items.first?.hasStoryboard == true)
        func path(_ ending: String) -> String {
            writing.library.folder + "/" + LibraryLayout.companion(of: item.path, ending: ending)
        }
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: path(".jpg")))) == jpeg)
        let lines = try String(contentsOfFile: path(".vtt"), encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines[..<3] == ["WEBVTT", "00:00:00.000 --> 00:00:10.000", "storyboard/0#xywh=0,0,320,180"])
        #expect(lines[4] == "storyboard/0#xywh=0,192,320,180" && lines.count == 51)
        #expect(lines.suffix(2) == ["00:04:00.000 --> 00:04:59.000", "storyboard/1#xywh=0,0,320,180"])
        for ending in [".000.jpg", ".001.jpg"] { #expect(FileManager.default.fileExists(atPath: path(ending))) }
    }

    private static func picture(_ scratch: Scratch) throws -> URL {
        let file = scratch.file("picture.jpg")
        _ = try Tool.run(
            "/usr/bin/ffmpeg",
            ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180", "-frames:v", "1", file.path]
        )
        return file
    }

    @Test("writes a static screen's duration at each tick")
    func duration() throws {
        let writing = try Writing(.always)
        for number in 0..<4 { writing.take(number, at: Int64(number) * 33) }
        writing.tick(at: 450)
        let size = writing.figures.current.bytes
        var durations: [Int64] = []
        for time in stride(from: Int64(900), through: 4500, by: 450) {
            writing.tick(at: time)
            durations.append(writing.figures.current.duration / 1000)
        }
        #expect(durations == [900, 1350, 1800, 2250, 2700, 3150, 3600, 4050, 4500])
        #expect(writing.figures.current.bytes == size)
    }
}
