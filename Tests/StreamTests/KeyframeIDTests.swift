import Media
import StreamOracle
import TestSupport
import Testing

/// Real keyframes whose `idr_pic_id` is changed without the encoder.
@Suite("Changed keyframe numbers")
struct KeyframeIDTests {
    static let sources = [
        SourceSettings(name: "CAVLC"),
        SourceSettings(name: "CAVLC, three slices, delimiters", preset: "ultrafast", parameters: "slices=3:aud=1"),
        SourceSettings(name: "CABAC", input: "mandelbrot", preset: "medium", parameters: "weightp=0"),
        SourceSettings(name: "CABAC, four slices", preset: "veryfast", parameters: "slices=4:weightp=0"),
        SourceSettings(name: "another encoder, openh264", encoder: .openh264),
    ]

    @Test(
        "a keyframe sent twice keeps all rules once the second has another number, and decodes as before",
        arguments: sources
    )
    func decodesAsBefore(_ settings: SourceSettings) throws {
        let source = try SourceStream(settings)
        /// The picture after a keyframe, unless that is a keyframe, too.
        func next(_ place: Int) -> [[UInt8]] {
            source.keyframes.contains(place + 1) ? [] : Array(source.accessUnits[(place + 1)...].prefix(1))
        }
        var (stream, same) = ([[UInt8]](), [[UInt8]]())
        for place in source.keyframes {
            let keyframe = source.accessUnits[place]
            let id = try #require(H264KeyframeID(of: keyframe))
            let changed = id.changed(in: keyframe)
            // Again, for a third keyframe in a row.
            let again = try #require(H264KeyframeID(of: changed)).changed(in: changed)
            stream += [keyframe, changed, again] + next(place)
            same += [keyframe, keyframe, keyframe] + next(place)
        }
        let faults = StreamCheck.faults(in: stream, codec: .h264)
        #expect(faults.isEmpty, "\(faults)")
        #expect(!StreamCheck.faults(in: same, codec: .h264).isEmpty)
        for decoder in PictureDecoder.allCases {
            let expected = try source.keyframes.flatMap { place in
                let hashes = try decoder.hashes(of: [source.accessUnits[place]] + next(place), codec: .h264)
                return [hashes[0], hashes[0]] + hashes
            }
            #expect(try decoder.hashes(of: stream, codec: .h264) == expected, "\(decoder)")
        }
    }

    @Test("only the number changes, wherever it stands and whatever surrounds it", arguments: 0..<500)
    func onlyTheNumber(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let number = [0, 1, 2, 3, 14, 15, 100, 65_534].randomElement(using: &generator) ?? 0
        let width = Int.random(in: 4...16, using: &generator)
        let bytesToMeet: [UInt8] = [0, 0, 0, 1, 3, 0x80]
        let data = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
            bytesToMeet.randomElement(using: &generator) ?? 0
        }
        func keyframe(_ number: Int) -> [UInt8] {
            HandWritten.H264.keyframe(id: number, numberWidth: width, data: data)
        }
        let before = keyframe(number)
        let id = try #require(H264KeyframeID(of: before))
        #expect(id.value == number)
        let changed = id.changed(in: before)
        let newID = try #require(H264KeyframeID(of: changed))
        #expect(newID.value != number && (0...65_535).contains(newID.value))
        #expect(changed == keyframe(newID.value))
    }

    @Test("an unreadable keyframe has no number, and the largest number stays")
    func unreadable() throws {
        let keyframe = HandWritten.H264.keyframe(id: 65_535, numberWidth: 4, data: [1])
        #expect(try #require(H264KeyframeID(of: keyframe)).changed(in: keyframe) == keyframe)
        #expect(H264KeyframeID(of: HandWritten.H264.picture(number: 1, order: 2)) == nil)
        #expect(H264KeyframeID(of: []) == nil)
        // Its parameter sets belong to it.
        let slice = ByteStream.units(in: keyframe).suffix(1)
        #expect(H264KeyframeID(of: ByteStream.joined(Array(slice))) == nil)
    }
}
