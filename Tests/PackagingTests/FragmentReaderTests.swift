import Media
import Packaging
import TestSupport
import Testing

@Suite("A reader of fragments")
struct FragmentReaderTests {
    /// Returns a stream with a second initialization segment, and its access units.
    private static func stream(seed: UInt64) throws -> (bytes: [UInt8], units: [AccessUnit]) {
        var generator = SeededGenerator(seed: seed)
        var units: [AccessUnit] = []
        for number in 0..<40 {
            let isKey = number % 15 == 0
            let header: [UInt8] = [isKey ? 0x65 : 0x41]
            let size = Int.random(in: 1...3000, using: &generator)
            let slice = Sample.slice(header: header, size: size, &generator)
            // The second keyframe has one set less.
            let sets = number == 15 ? Array(Sample.setsH264.dropLast()) : Sample.setsH264
            units.append(Sample.accessUnit(pts: Int64(number) * 33_333 + 7, key: isKey, (isKey ? sets : []) + [slice]))
        }
        var packager = FragmentedMP4(codec: .h264, fps: 30)
        var bytes: [UInt8] = []
        for unit in units {
            let fragment = try packager.fragment(unit)
            if fragment.changesInitialization { bytes += packager.initialization?.bytes ?? [] }
            bytes += fragment.bytes
        }
        return (bytes, units)
    }

    @Test("finds what was packaged, however its bytes come", arguments: [1, 13, 1000, 1_000_000])
    func roundTrip(_ step: Int) throws {
        let stream = try Self.stream(seed: 3)
        var reader = FragmentReader()
        var units: [AccessUnit] = []
        for start in stride(from: 0, to: stream.bytes.count, by: step) {
            units += try reader.append(stream.bytes[start..<min(start + step, stream.bytes.count)])
        }
        #expect(units.map(\.bytes) == stream.units.map(\.bytes))
        #expect(units.map(\.pts) == stream.units.map(\.pts))
        #expect(units.map(\.flags) == stream.units.map(\.flags))
    }

    @Test("refuses any other stream")
    func malformed() throws {
        var reader = FragmentReader()
        #expect(throws: FragmentReader.Failure.malformed) { _ = try reader.append([0, 0, 0, 7, 0, 0, 0, 0]) }
        reader = FragmentReader()
        #expect(throws: FragmentReader.Failure.malformed) {
            _ = try reader.append(Array([0, 0, 0, 9]) + Array("mdat".utf8) + [1])
        }
        reader = FragmentReader()
        #expect(throws: FragmentReader.Failure.tooLong) {
            _ = try reader.append(Array([0x7F, 0, 0, 0]) + Array("mdat".utf8))
        }
        // Damaged bytes must either throw or be skipped.
        var generator = SeededGenerator(seed: 5)
        let stream = try Self.stream(seed: 4).bytes
        for _ in 0..<300 {
            var bytes = stream
            for _ in 0..<4 {
                let place = Int.random(in: bytes.indices, using: &generator)
                bytes[place] = UInt8.random(in: 0...255, using: &generator)
            }
            var reader = FragmentReader()
            let units = (try? reader.append(bytes)) ?? []
            #expect(units.count <= 40)
        }
    }
}

@Suite("A recording's clock")
struct RecordingClockTests {
    @Test("uses the picture with the shortest delay")
    func offset() {
        var clock = RecordingClock()
        // Delays of 50 ms, then 10 ms, then more than a second.
        clock.take(pts: 1_000_000, now: 5_050_000)
        #expect(clock.end(now: 5_050_001) == 1_000_001)
        clock.take(pts: 1_033_333, now: 5_043_333)
        clock.take(pts: 1_066_667, now: 6_066_667)
        #expect(clock.first == 1_000_000 && clock.last == 1_066_667)
        #expect(clock.end(now: 6_100_000) == 2_090_000)
    }

    @Test("never ends before its last picture")
    func order() {
        var clock = RecordingClock()
        #expect(clock.first == nil)
        clock.take(pts: 10, now: .min)
        clock.take(pts: 20, now: 100)
        #expect(clock.end(now: 0) == 21)
        #expect(clock.end(now: .max) > 20)
    }
}
