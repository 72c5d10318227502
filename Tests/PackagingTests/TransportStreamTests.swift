import Media
import Packaging
import TestSupport
import Testing

@Suite("A transport stream")
struct TransportStreamTests {
    /// Written by hand from ISO/IEC 13818-1; the checksums were computed independently.
    @Test("is what the standard says, byte for byte")
    func frozen() throws {
        let expected = [UInt8](
            hex: """
                // PAT: stream 1, version 0; program 1 is at PID 0x1000
                47 4000 10  00 00 b00d 0001 c1 00 00 0001 f000 2ab104b2 \(Self.padding(167))
                // PMT: program 1, clock on PID 0x100; H.264 on PID 0x100
                47 5000 10  00 02 b012 0001 c1 00 00 e100 f000 1b e100 f000 15bd4d56 \(Self.padding(162))
                // Adaptation field of 7 bytes: random access, clock; base 90000, extension 0
                47 4100 30  07 50 0000afc8 7e00
                // PES packet of 319 bytes more: aligned, PTS 99000; a delimiter, then the picture
                000001e0 013f 84 80 05 21 0007 0571  00000001 09f0  00000001 65 \(Self.slice(151))
                // Adaptation field of 34 bytes, no flags
                47 0100 31  22 00 \(Self.padding(33)) \(Self.slice(149))
                """
        )
        var stream = TransportStream(codec: .h264)
        let slice = [UInt8](repeating: 0xAB, count: 300)
        #expect(try stream.packets(Sample.accessUnit(pts: 1_000_000, [[0x65] + slice])).hex == expected.hex)
    }

    private static func padding(_ count: Int) -> String { String(repeating: "ff", count: count) }
    private static func slice(_ count: Int) -> String { String(repeating: "ab", count: count) }

    @Test("announces H.265 as such, and its delimiters are H.265's")
    func h265() throws {
        var stream = TransportStream(codec: .h265)
        let unit = Sample.accessUnit(pts: 0, [[0x26, 0x01, 0xAF]])
        let bytes = try stream.packets(unit)
        let section = try #require(ParsedPacket.packets(bytes)?[1].section)
        #expect(section.hex == "02b0120001c10000e100f00024e100f0002f006ee7")
        #expect(ParsedPicture.pictures(bytes)?.first?.bytes == [0, 0, 0, 1, 0x46, 0x01, 0x50] + unit.bytes)
    }

    @Test("keeps delimiters that the stream has", arguments: Codec.allCases)
    func ownDelimiter(_ codec: Codec) throws {
        var stream = TransportStream(codec: codec)
        let delimiter: [UInt8] = codec == .h264 ? [0x09, 0x10] : [0x46, 0x01, 0x10]
        for startCode: [UInt8] in [[0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0, 1]] {
            let unit = Sample.accessUnit(
                [delimiter, codec == .h264 ? [0x65, 1] : [0x26, 1, 1]],
                startCode: startCode
            )
            #expect(try ParsedPicture.pictures(stream.packets(unit))?.first?.bytes == unit.bytes)
        }
    }

    @Test("gives back every picture at its time, whatever their sizes and the counters' turns", arguments: 0..<60)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var stream = TransportStream(codec: .h264)
        // Half of them around the wraparound of the 33 bits, including the ninth and one far away.
        let nineTurns = Int64(1 << 33) * 100
        let elsewhere = Int64.random(in: 0...(1 << 45), using: &generator)
        let starts = [0, nineTurns / 9, nineTurns, Int64(1) << 61, elsewhere]
        var pts = max(0, starts[Int(seed) % starts.count] - Int64.random(in: 0...2_000_000, using: &generator))
        var bytes: [UInt8] = []
        var sent: [AccessUnit] = []
        for _ in 0..<80 {
            // Sizes around one packet, several packets, and the largest size that a PES packet can state.
            let sizes = [0...8, 100...400, 65_490...65_540, 0...4000]
            let size = Int.random(in: sizes[Int.random(in: sizes.indices, using: &generator)], using: &generator)
            let isKey = sent.isEmpty || Int.random(in: 0..<10, using: &generator) == 0
            let payload = (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let unit = Sample.accessUnit(pts: pts, key: isKey, [[isKey ? 0x65 : 0x41] + payload])
            sent.append(unit)
            bytes += try stream.packets(unit)
            pts += Int64.random(in: 1...60_000, using: &generator)
        }
        let pictures = try #require(ParsedPicture.pictures(bytes))
        #expect(pictures.count == sent.count)
        var tables: Int64?
        for (picture, unit) in zip(pictures, sent) {
            #expect(picture.bytes == [0, 0, 0, 1, 0x09, 0xF0] + unit.bytes)
            let isKey = unit.flags.contains(.key)
            #expect(picture.isRandomAccess == isKey)
            let areDue = tables.map { unit.pts - $0 >= 100_000 } ?? true
            #expect(picture.hasTables == (isKey || areDue))
            if picture.hasTables { tables = unit.pts }
            // Computed exactly, with sufficiently wide numbers.
            let ticks = UInt64(unit.pts).multipliedFullWidth(by: 27)
            #expect(picture.clock == (UInt64(1 << 33) * 300).dividingFullWidth(ticks).remainder)
            let presentation = (Double(unit.pts % nineTurns) * 9 / 100).rounded() + 9000
            #expect(Int(picture.presentation) == Int(presentation) % (1 << 33))
            let told = 8 + 6 + unit.bytes.count
            #expect(picture.length == (told <= 65_535 ? told : 0))
        }
    }

    @Test("fills every last packet exactly", arguments: 0..<400)
    func filling(_ size: Int) throws {
        var stream = TransportStream(codec: .h264)
        let unit = Sample.accessUnit(pts: 0, [[0x65] + [UInt8](repeating: 0xAB, count: size)])
        let bytes = try stream.packets(unit)
        #expect(ParsedPicture.pictures(bytes)?.first?.bytes.suffix(unit.bytes.count) == unit.bytes[...])
        // The tables, the clock's field and headers, the delimiter and the picture, in as few packets as possible.
        #expect(bytes.count / 188 == 2 + (8 + 14 + 6 + unit.bytes.count + 183) / 184)
    }

    @Test("tells a player that missed packets of it")
    func discontinuity() throws {
        var stream = TransportStream(codec: .h264)
        var sent = try stream.packets(Sample.keyframe(pts: 0))
        for number in 1...4 { _ = try stream.packets(Sample.predicted(pts: Int64(number) * 33_333)) }
        let keyframe = try stream.packets(Sample.keyframe(pts: 200_000))
        #expect(ParsedPicture.pictures(sent + keyframe) == nil)
        let mark = TransportStream.discontinuity(before: keyframe)
        sent += mark + keyframe
        #expect(ParsedPicture.pictures(sent)?.count == 2)
        let packets = try #require(ParsedPacket.packets(mark))
        #expect(packets.map(\.pid) == [0, 0x1000, 0x100])
        #expect(packets.allSatisfy { $0.isDiscontinuity && $0.payload == nil })
    }

    @Test("announces the counters of the next packets, however few these are")
    func discontinuityOfFew() throws {
        var stream = TransportStream(codec: .h264)
        let keyframe = try stream.packets(Sample.keyframe(pts: 0))
        let predicted = try stream.packets(Sample.predicted(pts: 1))
        #expect(predicted.count == 188)
        let mark = TransportStream.discontinuity(before: predicted)
        #expect(ParsedPacket.packets(mark)?.map(\.pid) == [0x100])
        #expect(ParsedPicture.pictures(keyframe + mark + predicted)?.count == 2)
        for count in 0..<188 { #expect(TransportStream.discontinuity(before: predicted.prefix(count)).isEmpty) }
    }

    @Test("refuses bytes that are not an Annex B stream, and continues")
    func refused() throws {
        var stream = TransportStream(codec: .h264)
        for bytes: [UInt8] in [[], [0], [0, 0, 1], [0, 0, 0, 1], [0, 1, 0x65], [1, 2, 3], [0, 0, 2, 0x65]] {
            var unit = Sample.accessUnit([])
            unit.bytes = bytes
            #expect(throws: PackagingError.noPicture) { try stream.packets(unit) }
        }
        #expect(try ParsedPicture.pictures(stream.packets(Sample.keyframe()))?.count == 1)
    }

    @Test("takes any time", arguments: [Int64.min, -1, Int64.max])
    func anyTime(pts: Int64) throws {
        var stream = TransportStream(codec: .h264)
        _ = try stream.packets(Sample.predicted(pts: 0))
        #expect(try ParsedPicture.pictures(stream.packets(Sample.predicted(pts: pts)))?.count == 1)
    }
}
