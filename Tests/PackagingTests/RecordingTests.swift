import Foundation
import Media
import Packaging
import TestSupport
import Testing

@Suite("A recording")
struct RecordingTests {
    /// Returns a recording of a real stream from late in a session, as a file that broke off, and its ending.
    private static func record(
        end: Int64
    ) throws -> (file: [UInt8], complete: [UInt8], units: [AccessUnit]) {
        let source = try SourceStream(SourceSettings(name: "x264"))
        var recording = MP4Recording(codec: .h264, fps: 30)
        var file: [UInt8] = []
        var units: [AccessUnit] = []
        for (index, bytes) in source.accessUnits.enumerated() {
            let pts = 3_600_000_000 + Int64(index) * 33_333
            var unit = Sample.accessUnit(pts: pts, key: source.keyframes.contains(index), [])
            unit.bytes = bytes
            units.append(unit)
            file += try recording.append(unit)
        }
        let ending = try #require(recording.ending(at: end))
        var complete = file
        for patch in ending.patches {
            complete.replaceSubrange(patch.offset..<(patch.offset + patch.bytes.count), with: patch.bytes)
        }
        #expect(complete.count == file.count)
        return (file, complete + ending.index, units)
    }

    @Test("lasts from its first picture to its end, however long the last picture stands")
    func duration() throws {
        let scratch = try Scratch()
        let recorded = try Self.record(end: 3_607_500_000)
        let complete = try scratch.write(recorded.complete, to: "complete.mp4")
        let properties = try Players.properties(of: complete)
        #expect(properties["start_time"] == "0.000000")
        #expect(properties["duration"] == "7.500000")
        let movie = try #require(Box.boxes(recorded.complete)?.first { $0.type == "moov" })
        #expect(movie["mvex"]?.outline == "mvex(mehd trex)")
        #expect(movie["mvex"]?["mehd"]?.number(4..<8) == 7500)
        // Everything is there, also in a file that broke off.
        let bare = try scratch.write(recorded.units.flatMap(\.bytes), to: "bare")
        let expected = try Players.hashes(of: bare, format: "h264")
        #expect(try Players.hashes(of: complete) == expected)
        let broken = try scratch.write(recorded.file, to: "broken.mp4")
        #expect(try Players.hashes(of: broken) == expected)
    }

    @Test("has an index that leads to every keyframe")
    func index() throws {
        let recorded = try Self.record(end: 0)
        let boxes = try #require(Box.boxes(recorded.complete))
        let access = try #require(boxes.last)
        #expect(access.outline == "mfra(tfra mfro)")
        #expect(access["mfro"]?.number(4..<8) == UInt64(access.payload.count + 8))
        let table = try #require(access["tfra"])
        let keyframes = recorded.units.filter { $0.flags.contains(.key) }
        #expect(table.number(12..<16) == UInt64(keyframes.count))
        for (place, keyframe) in keyframes.enumerated() {
            let start = 16 + place * 19
            #expect(table.number(start..<(start + 8)) == UInt64(keyframe.pts - 3_600_000_000))
            let offset = Int(table.number((start + 8)..<(start + 16)))
            let fragment = try #require(Box.boxes(recorded.complete[offset...])?.prefix(2))
            let bytes = recorded.complete[offset...].prefix(fragment.reduce(0) { $0 + 8 + $1.payload.count })
            let parsed = try ParsedFragment(Array(bytes))
            #expect(parsed.time == keyframe.pts - 3_600_000_000)
            #expect(parsed.flags == 0x0200_0000)
        }
    }

    @Test("begins at a keyframe, and is empty without one")
    func beginning() throws {
        var recording = MP4Recording(codec: .h264, fps: 30)
        #expect(throws: PackagingError.noKeyframe) { try recording.append(Sample.predicted(pts: 5)) }
        #expect(recording.ending(at: 10) == nil)
        #expect(
            try Box.boxes(recording.append(Sample.keyframe(pts: 6)))?.map(\.type) == ["ftyp", "moov", "moof", "mdat"]
        )
        #expect(try Box.boxes(recording.append(Sample.predicted(pts: 7)))?.map(\.type) == ["moof", "mdat"])
        #expect(recording.ending(at: .min)?.patches.last?.bytes == [0, 0, 0, 1])
    }
}
