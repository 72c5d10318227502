import Foundation
import Media
import Packaging
import TestSupport
import Testing

/// A recording of a real stream from late in a session.
private struct Recorded {
    /// The file as it was when it broke off after each of its fragments, and complete.
    var fragments: [Int] = []
    var file: [UInt8] = []
    /// The steps that complete it.
    var steps: [FileWrite] = []
    var units: [AccessUnit] = []
    let note = Array("a note".utf8)

    static let start: Int64 = 3_600_000_000

    init(
        _ settings: SourceSettings = SourceSettings(name: "x264"),
        place: FragmentedMP4.ParameterSetPlace = .sampleEntry,
        end: Int64 = 7_500_000,
        interval: Int64 = 33_333
    ) throws {
        let source = try SourceStream(settings)
        var movie = HybridMovie<[UInt8]>(tracks: [.video(source.codec)], fps: 30, place: place, note: note)
        for (index, bytes) in source.accessUnits.enumerated() {
            var unit = Sample.accessUnit(
                pts: Self.start + Int64(index) * interval,
                key: source.keyframes.contains(index),
                []
            )
            unit.bytes = bytes
            units.append(unit)
            if movie.isFragmentDue(at: unit.pts) { append(&movie) }
            try movie.append(unit)
        }
        append(&movie)
        #expect(movie.size == UInt64(file.count))
        steps = movie.ending(at: Self.start + end)
    }

    private mutating func append(_ movie: inout HybridMovie<[UInt8]>) {
        file += movie.takeBytes()
        fragments.append(file.count)
    }

    var complete: [UInt8] { steps.reduce(into: file) { $0.write($1) } }

    /// The stream's bytes.
    var bare: [UInt8] { units.flatMap(\.bytes) }
}

extension [UInt8] {
    fileprivate mutating func write(_ step: FileWrite) {
        let start = Int(step.offset)
        if start == count {
            append(contentsOf: step.bytes)
        } else {
            replaceSubrange(start..<(start + step.bytes.count), with: step.bytes)
        }
    }

    fileprivate func scan() throws -> RecordingScan {
        try RecordingScan(size: UInt64(count)) { offset, count in
            Array(self.dropFirst(Int(clamping: offset)).prefix(count))
        }
    }
}

@Suite("A recording")
struct RecordingTests {
    static let codecs = [SourceSettings(name: "x264"), SourceSettings(name: "x265", encoder: .x265)]

    @Test("plays while it grows, between the steps of its end, and complete", arguments: codecs)
    func plays(_ settings: SourceSettings) throws {
        let scratch = try Scratch()
        let recorded = try Recorded(settings)
        #expect(recorded.fragments.count > 1)
        let bare = try scratch.write(recorded.bare, to: "bare")
        let codec: Codec = settings.encoder == .x265 ? .h265 : .h264
        let expected = try Players.hashes(of: bare, format: codec.demuxer)
        let between = (recorded.steps.first).map { step in
            var file = recorded.file
            file.write(step)
            return file
        }
        for (name, bytes) in [("grows", recorded.file), ("complete", recorded.complete)] {
            let file = try scratch.write(bytes, to: "\(name).mp4")
            #expect(try Players.hashes(of: file) == expected, "\(name)")
        }
        // The doubled index is worth a warning to ffmpeg, but it plays.
        let file = try scratch.write(#require(between), to: "between.mp4")
        let packets = try Tool.run(
            "/usr/bin/ffprobe",
            ["-v", "error", "-show_entries", "packet=pts", "-of", "csv=p=0", file.path]
        )
        #expect(packets.split(separator: "\n").count == recorded.units.count)
    }

    @Test("lasts from its first picture to its end, however long the last picture stands")
    func duration() throws {
        let scratch = try Scratch()
        let recorded = try Recorded()
        let properties = try Players.properties(of: scratch.write(recorded.complete, to: "complete.mp4"))
        #expect(properties["start_time"] == "0.000000")
        #expect(properties["duration"] == "7.500000")
        #expect(properties["codec_tag_string"] == "avc1")
        let times = try Players.packets(of: scratch.file("complete.mp4")).map(\.pts)
        #expect(times == recorded.units.map { $0.pts - Recorded.start })
    }

    @Test("of many hours has the right duration, complete and broken off")
    func long() throws {
        let scratch = try Scratch()
        // Ten minutes between two pictures, 12 hours in all.
        let recorded = try Recorded(
            SourceSettings(name: "long", pictures: 72),
            end: 43_200_000_000,
            interval: 600_000_000
        )
        let properties = try Players.properties(of: scratch.write(recorded.complete, to: "long.mp4"))
        #expect(properties["duration"] == "43200.000000")
        let times = try Players.packets(of: scratch.file("long.mp4")).map(\.pts)
        #expect(times == recorded.units.map { $0.pts - Recorded.start })
        #expect(try recorded.complete.scan().index.end == 43_200_000_000)
    }

    @Test("has the same bytes at the same offsets for all samples before and after its end")
    func inPlace() throws {
        let recorded = try Recorded()
        let (before, after) = (try recorded.file.scan(), try recorded.complete.scan())
        #expect(!before.isComplete && after.isComplete)
        #expect(before.size == after.size)
        let (growing, complete) = (try #require(before.index.video), try #require(after.index.video))
        #expect(growing.samples.times == complete.samples.times)
        #expect(growing.samples.sizes == complete.samples.sizes)
        #expect(growing.samples.syncs == complete.samples.syncs)
        #expect(growing.samples.chunks == complete.samples.chunks)
        #expect(before.index.notes == [recorded.note] && after.index.notes == [recorded.note])
        for piece in growing.samples.places(of: 0..<growing.samples.count) {
            let range = Int(piece.offset)..<Int(piece.offset + piece.length)
            #expect(recorded.file[range] == recorded.complete[range])
        }
    }

    @Test("that broke off anywhere has every whole fragment, and can be completed")
    func brokenOff() throws {
        let recorded = try Recorded()
        let scratch = try Scratch()
        for length in stride(from: 0, through: recorded.file.count, by: 997) {
            let whole = recorded.fragments.last { $0 <= length }
            let file = Array(recorded.file.prefix(length))
            guard let whole else {
                #expect(throws: RecordingScan.Failure.self) { try file.scan() }
                continue
            }
            #expect(try file.scan().size == UInt64(whole))
        }
        // Zeros in place of the last bytes, as after a loss of power.
        let last = recorded.fragments[recorded.fragments.count - 2]
        for lost in [1, 12, 500] {
            let file = recorded.file.dropLast(lost) + Array(repeating: 0, count: lost)
            let scan = try Array(file).scan()
            #expect(scan.size == UInt64(last))
            var repaired = Array(file.prefix(last))
            for step in scan.index.ending(at: scan.size) { repaired.write(step) }
            let complete = try scratch.write(repaired, to: "\(lost).mp4")
            let count = try Players.packets(of: complete).count
            #expect(count == scan.index.video?.samples.count)
            _ = try Players.hashes(of: complete)
        }
    }

    @Test("between the steps of its end is read as one that broke off, without the doubled index")
    func betweenSteps() throws {
        let recorded = try Recorded()
        var file = recorded.file
        file.write(try #require(recorded.steps.first))
        let scan = try file.scan()
        #expect(!scan.isComplete && scan.size == UInt64(recorded.file.count))
        // A complete one whose index was lost.
        let torn = Array(recorded.complete.prefix(recorded.file.count + 100))
        #expect(try torn.scan().size == UInt64(recorded.file.count))
    }

    @Test("that is told its duration while it grows has it after a crash")
    func toldDuration() throws {
        var movie = HybridMovie<[UInt8]>(tracks: [.video(.h264)], fps: 30)
        #expect(movie.duration(at: 5) == nil && movie.ending(at: 5) == [])
        try movie.append(Sample.keyframe(pts: 6))
        var file = movie.takeBytes()
        file.write(try #require(movie.duration(at: 3_000_000_006)))
        #expect(try file.scan().index.end == 3_000_000_000)
    }

    @Test("begins at a keyframe, and needs another file for other parameter sets")
    func beginning() throws {
        var movie = HybridMovie<[UInt8]>(tracks: [.video(.h264)], fps: 30, place: .sampleEntry)
        #expect(throws: PackagingError.noKeyframe) { try movie.append(Sample.predicted(pts: 5)) }
        #expect(movie.takeBytes().isEmpty && !movie.hasBegun)
        #expect(!movie.needsAnotherFile(for: Sample.keyframe(pts: 6)))
        try movie.append(Sample.keyframe(pts: 6))
        #expect(!movie.needsAnotherFile(for: Sample.keyframe(pts: 7)))
        let other = Sample.accessUnit(pts: 7, [Sample.sequenceH264, Sample.pictureH264, [0x65, 0x88, 0x84, 0x21]])
        #expect(movie.needsAnotherFile(for: other))
        movie.append(note: [1, 2, 3])
        let boxes = try #require(Box.boxes(movie.takeBytes()))
        #expect(boxes.map(\.type) == ["ftyp", "free", "ftyp", "moov", "uuid", "moof", "mdat", "skip"])
    }

    @Test("is clipped exactly, across files and gaps", arguments: [1_000_000, 1_500_001, 33_333 * 7] as [UInt64])
    func clip(_ start: UInt64) throws {
        let scratch = try Scratch()
        let recorded = try Recorded()
        let index = try recorded.complete.scan().index
        // The same file twice, with a gap between.
        let length = index.lastTime + 33_333
        var first = index
        first = try recorded.file.scan().index
        let sources = [
            MovieClip.Source(index: first, start: 0),
            MovieClip.Source(index: first, start: length + 2_000_000),
        ]
        let end = length + 3_000_000
        let clip = try MovieClip(sources, start..<end)
        var bytes = clip.head
        for piece in clip.pieces {
            bytes += recorded.complete[Int(piece.piece.offset)..<Int(piece.piece.offset + piece.piece.length)]
        }
        #expect(clip.size == UInt64(bytes.count))
        let file = try scratch.write(bytes, to: "clip.mp4")
        let properties = try Players.properties(of: file)
        #expect(properties["duration"].flatMap(Double.init).map { abs($0 - Double(end - start) / 1e6) < 0.001 } == true)
        // What plays at each time is what the recording has there.
        let bare = try scratch.write(recorded.bare, to: "bare")
        let pictures = try Players.hashes(of: bare, format: "h264")
        let found = try Players.hashes(of: file)
        let times = recorded.units.map { UInt64($0.pts - Recorded.start) }
        let shown = try #require(times.lastIndex { $0 <= start })
        let second = times.filter { $0 + length + 2_000_000 < end }.count
        #expect(found == Array(pictures[shown...]) + pictures.prefix(second))
        #expect(throws: MovieClip.Failure.empty) { try MovieClip(sources, end * 2..<end * 3) }
    }
}
