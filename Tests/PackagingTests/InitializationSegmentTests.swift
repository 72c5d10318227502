import Media
import Packaging
import TestSupport
import Testing

@Suite("An initialization segment")
struct InitializationSegmentTests {
    private static func segment(
        _ units: [[UInt8]],
        codec: Codec = .h264,
        place: FragmentedMP4.ParameterSetPlace = .inBand
    ) throws -> InitializationSegment {
        var packager = FragmentedMP4(codec: codec, fps: 30, place: place)
        _ = try packager.fragment(Sample.accessUnit(units))
        return try #require(packager.initialization)
    }

    /// Written by hand from ISO/IEC 14496-12 and 14496-15.
    @Test("of H.264 is what the standards say, byte for byte")
    func frozen() throws {
        let matrix = "00010000 00000000 00000000 00000000 00010000 00000000 00000000 00000000 40000000"
        let expected = [UInt8](
            hex: """
                00000018 66747970  69736f36 00000000 69736f36 6d703431  // ftyp: iso6; iso6 mp41
                0000028b 6d6f6f76  // moov
                // mvhd: 1,000,000 units a second, rate 1, volume 1, next track 2
                0000006c 6d766864 00000000 00000000 00000000 000f4240 00000000 00010000 0100 0000 00000000 00000000
                \(matrix) 00000000 00000000 00000000 00000000 00000000 00000000 00000002
                000001ef 7472616b  // trak
                // tkhd: enabled, in the movie; track 1; 1920x1080
                0000005c 746b6864 00000003 00000000 00000000 00000001 00000000 00000000 00000000 00000000
                0000 0000 0000 0000 \(matrix) 07800000 04380000
                0000018b 6d646961  // mdia
                00000020 6d646864 00000000 00000000 00000000 000f4240 00000000 55c4 0000  // mdhd: µs, und
                00000021 68646c72 00000000 00000000 76696465 00000000 00000000 00000000 00  // hdlr: vide
                00000142 6d696e66  // minf
                00000014 766d6864 00000001 0000 0000 0000 0000  // vmhd
                00000024 64696e66 0000001c 64726566 00000000 00000001 0000000c 75726c20 00000001  // dinf, dref, url
                00000102 7374626c  // stbl
                000000b6 73747364 00000000 00000001  // stsd
                // avc3: data reference 1, 1920x1080, 72 dpi, one frame a sample, no compressor's name, depth 24
                000000a6 61766333 000000000000 0001 00000000 00000000 00000000 00000000 0780 0438 00480000 00480000
                00000000 0001 \(String(repeating: "00", count: 32)) 0018 ffff
                // avcC: version, profile, constraints, level, lengths of 4 bytes; one SPS of 16 bytes, two PPS of 4
                0000002d 61766343 01 42 c0 28 ff e1 0010 \(Sample.sequenceH264.hex) 02 0004 68ce3c80 0004 685b8f20
                00000013 636f6c72 6e636c78 0001 0001 0001 00  // colr: nclx, BT.709, limited
                00000010 70617370 00000001 00000001  // pasp
                00000010 73747473 00000000 00000000  // stts
                00000010 73747363 00000000 00000000  // stsc
                00000014 7374737a 00000000 00000000 00000000  // stsz
                00000010 7374636f 00000000 00000000  // stco
                // mvex, trex: track 1, sample description 1
                00000028 6d766578 00000020 74726578 00000000 00000001 00000001 00000000 00000000 00000000
                """
        )
        let segment = try Self.segment(Sample.setsH264 + [[0x65, 0x88, 0x84, 0x21]])
        #expect(segment.bytes.hex == expected.hex)
        #expect(segment.codecs == "avc3.42C028")
        #expect(segment.size == PictureSize(width: 1920, height: 1080))
    }

    @Test("names the boxes for parameter sets in the sample entry alone otherwise")
    func sampleEntry() throws {
        let segment = try Self.segment(Sample.setsH264 + [[0x65, 0x88]], place: .sampleEntry)
        #expect(segment.codecs == "avc1.42C028")
        let table = "stbl(stsd(avc1(avcC colr pasp)) stts stsc stsz stco)"
        let media = "mdia(mdhd hdlr minf(vmhd dinf(dref(url )) \(table)))"
        let outlines = try #require(Box.boxes(segment.bytes)).map(\.outline)
        #expect(outlines == ["ftyp", "moov(mvhd trak(tkhd \(media)) mvex(trex))"])
    }

    @Test("offers tracks of sound as alternatives, of which the first one is enabled", arguments: [1, 2])
    func alternatives(_ sounds: Int) throws {
        let opus = try #require(OpusParameters(channels: 2, preSkip: 312))
        let tracks: [MediaTrack] = [
            .video(.h264), MediaTrack(id: 1, coding: .opus(opus)), MediaTrack(id: 2, coding: .aac(.stereo)),
        ]
        var packager = FragmentedMP4(tracks: Array(tracks.prefix(1 + sounds)), fps: 30)
        let keyframe = Sample.accessUnit(Sample.setsH264 + [[0x65, 0x88]])
        let _: FragmentedMP4.Fragment<[UInt8]> = try packager.muxed(keyframe)
        let bytes = try #require(packager.initialization).bytes
        let headers = try #require(Box.boxes(bytes))[1].children.compactMap { $0["tkhd"] }
        #expect(headers.map { $0.number(1..<4) } == (sounds == 1 ? [3, 3] : [3, 3, 2]))
        // It follows 34 bytes of version 0.
        #expect(headers.map { $0.number(34..<36) } == (sounds == 1 ? [0, 0] : [0, 1, 1]))
    }

    /// The sample entry's own boxes.
    private static func configuration(_ segment: InitializationSegment, _ type: String) throws -> Box {
        let boxes = try #require(Box.boxes(segment.bytes))
        let description = boxes[1]["trak"]?["mdia"]?["minf"]?["stbl"]?["stsd"]
        return try #require(description?.children.first?[type])
    }

    @Test("of H.265 has every parameter set, in arrays by kind", arguments: [false, true])
    func h265(_ inBand: Bool) throws {
        let source = try SourceStream(SourceSettings(name: "x265", encoder: .x265, keyframes: [0], pictures: 2))
        var stream = RepeatableStream(codec: .h265)
        // The PPS of repeats comes with the keyframe.
        let keyframe = try stream.live(source.accessUnits[0])
        let units = AnnexB.units(in: keyframe)
        let bare = units.map { Array(keyframe[$0.header..<$0.range.upperBound]) }
        let segment = try Self.segment(bare, codec: .h265, place: inBand ? .inBand : .sampleEntry)
        // Main profile, compatible with Main and Main 10; level 2 of 320x180 at 30 fps; progressive, frames only.
        #expect(segment.codecs == "\(inBand ? "hev1" : "hvc1").1.6.L60.90")
        #expect(segment.size == PictureSize(width: 320, height: 180))
        let record = try Self.configuration(segment, "hvcC").payload
        #expect(record[0] == 1)
        // General profile to level, as they are in the SPS after its header and first byte.
        let sequence = try #require(bare.first { NALUnitKind(header: $0[0], codec: .h265) == .sequenceParameterSet })
        let plain = sequence.indices.filter { $0 < 2 || Array(sequence[($0 - 2)...$0]) != [0, 0, 3] }.map {
            sequence[$0]
        }
        #expect(Array(record[1..<13]) == Array(plain[3..<15]))
        // Unknown segmentation and parallelism; 4:2:0 in 8 bits; no frame rate; one nested layer, lengths of 4 bytes.
        #expect(Array(record[13..<22]) == [0xF0, 0, 0xFC, 0xFD, 0xF8, 0xF8, 0, 0, 0x0F])
        var expected: [UInt8] = [3]
        for (type, count) in [(32, 1), (33, 1), (34, 2)] {
            let sets = bare.filter { Int($0[0] >> 1) == type }
            #expect(sets.count == count)
            let completeness: UInt8 = inBand ? 0 : 0x80
            expected += [completeness | UInt8(type), 0, UInt8(count)]
            for set in sets {
                expected += [0, UInt8(set.count)]
                expected += set
            }
        }
        #expect(Array(record[22...]) == expected)
    }

    @Test("tells chroma format, depth, sample shape and colours that the stream has")
    func highProfile() throws {
        let source = try SourceStream(
            SourceSettings(
                name: "high 4:2:2, anamorphic, BT.2020",
                input: "testsrc2,setsar=4/3",
                size: PictureSize(width: 198, height: 110),
                pixelFormat: "yuv422p10le",
                preset: "medium",
                parameters: "colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc",
                keyframes: [0],
                pictures: 1
            )
        )
        var packager = FragmentedMP4(codec: .h264, fps: 30)
        var keyframe = Sample.accessUnit([])
        keyframe.bytes = source.accessUnits[0]
        _ = try packager.fragment(keyframe)
        let segment = try #require(packager.initialization)
        #expect(segment.codecs.hasPrefix("avc3.7A"))
        #expect(segment.size == PictureSize(width: 198, height: 110))
        let record = try Self.configuration(segment, "avcC").payload
        #expect(record.suffix(4).hex == "fefafa00")
        #expect(try Self.configuration(segment, "pasp").payload == [0, 0, 0, 4, 0, 0, 0, 3])
        let colour = try Self.configuration(segment, "colr").payload
        #expect(colour.hex == "6e636c7800090010000900")
        let track = try #require(Box.boxes(segment.bytes)?[1]["trak"]?["tkhd"])
        #expect(track.number(76..<80) == 264 << 16)
        #expect(track.number(80..<84) == 110 << 16)
    }
}
