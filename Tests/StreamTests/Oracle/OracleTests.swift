import Media
import StreamOracle
import TestSupport
import Testing

/// Tests that the oracle for random sessions itself tells right from wrong.
@Suite("The stream oracle")
struct OracleTests {
    static let sources = [
        SourceSettings(name: "x264, picture order type 2"),
        SourceSettings(name: "x264, several slices, delimiters", preset: "ultrafast", parameters: "slices=3:aud=1"),
        SourceSettings(name: "x264, weighted prediction", preset: "medium", parameters: "weightp=1"),
        SourceSettings(name: "openh264, picture order type 0", encoder: .openh264),
        SourceSettings(name: "x265", encoder: .x265),
        SourceSettings(name: "x265, short picture order counts", encoder: .x265, parameters: "log2-max-poc-lsb=4"),
    ]

    private static func faults(_ units: [[UInt8]], _ codec: Codec) -> [StreamFault] {
        StreamCheck.faults(in: units, codec: codec)
    }

    @Test(
        "finds nothing wrong with an encoder's stream, with repeats and keyframes sent again or without",
        arguments: sources
    )
    func sound(_ settings: SourceSettings) throws {
        let source = try SourceStream(settings)
        #expect(Self.faults(source.accessUnits, source.codec).isEmpty)
        let mix = try RandomMix(of: source, runs: 20, seed: 5)
        #expect(Self.faults(mix.sent, source.codec).isEmpty)
        #expect(ByteStream.accessUnits(in: mix.sent.flatMap { $0 }, codec: source.codec) == mix.sent)
    }

    @Test("finds a picture that was taken out, one sent twice, and two in the wrong order", arguments: sources)
    func disordered(_ settings: SourceSettings) throws {
        let source = try SourceStream(settings)
        let units = source.accessUnits
        // Keyframes are pictures 0, 1, 2, 9, …; so 4 and 5 are P pictures with P pictures around them.
        for place in [4, 5] {
            var (without, twice, exchanged) = (units, units, units)
            without.remove(at: place)
            twice.insert(units[place], at: place)
            exchanged.swapAt(place, place + 1)
            for (stream, begin) in [(without, place), (twice, place + 1), (exchanged, place)] {
                let faults = Self.faults(stream, source.codec)
                #expect(faults.first?.picture == begin, "\(faults)")
            }
        }
        // A keyframe alone determines what must follow.
        #expect(Self.faults(Array(units[9...]), source.codec).isEmpty)
        let headless = Self.faults(Array(units[10...]), source.codec)
        #expect(headless.first?.picture == 0)
    }

    @Test("finds a keyframe without its parameter sets, and a picture cut into two", arguments: sources)
    func incomplete(_ settings: SourceSettings) throws {
        let source = try SourceStream(settings)
        var bare = source.accessUnits
        bare[9] = ByteStream.joined(ByteStream.units(in: bare[9]).filter { !isParameterSet($0[0], source.codec) })
        // An encoder may give each keyframe's sets new ids.
        #expect(Self.faults(bare, source.codec).first?.picture == 9)
        #expect(Self.faults([bare[9]], source.codec) == [StreamFault(picture: 0, .missingParameterSet)])
        var joined = source.accessUnits
        joined[4] += joined.remove(at: 5)
        #expect(Self.faults(joined, source.codec).first == StreamFault(picture: 4, .notOnePicture))
    }

    private func isParameterSet(_ header: UInt8, _ codec: Codec) -> Bool {
        codec == .h264 ? [7, 8].contains(header & 0x1F) : (32...34).contains(header >> 1 & 0x3F)
    }

    @Test("finds two keyframes in a row with one idr_pic_id, but not if a picture comes between them")
    func keyframeIDs() throws {
        let source = try SourceStream(SourceSettings(name: "x264"))
        let units = source.accessUnits
        let again = [units[9], units[9]] + units[10...]
        #expect(Self.faults(again, .h264).map(\.picture) == [1])
        #expect(Self.faults([units[9], units[10], units[9]] + units[10...], .h264).isEmpty)
    }

    @Test("counts H.264's numbers over their ends, and finds those that stop, jump or fall")
    func h264Numbers() {
        func stream(numbers: [Int], orders: [Int]) -> [[UInt8]] {
            zip(numbers, orders).enumerated().map { index, values in
                HandWritten.H264.picture(isIDR: index == 0, number: values.0, order: values.1)
            }
        }
        let count = Array(0..<40)
        #expect(Self.faults(stream(numbers: count, orders: count.map { 2 * $0 }), .h264).isEmpty)
        for (number, violation) in [
            (18, Violation.frameNumber(2, expected: 3)), (20, .frameNumber(4, expected: 3)),
            (3, .frameNumber(3, expected: 3)),
        ] {
            var numbers = count
            numbers[19] = number
            let faults = Self.faults(stream(numbers: numbers, orders: count.map { 2 * $0 }), .h264)
            #expect(number == 3 ? faults.isEmpty : faults.first == StreamFault(picture: 19, violation))
        }
        var orders = count.map { 2 * $0 }
        orders[19] = orders[18]
        let stopped = Self.faults(stream(numbers: count, orders: orders), .h264)
        #expect(stopped == [StreamFault(picture: 19, .pictureOrder(36, after: 36))])
        orders[19] = orders[18] - 4
        let fallen = Self.faults(stream(numbers: count, orders: orders), .h264)
        #expect(fallen == [StreamFault(picture: 19, .pictureOrder(32, after: 36))])
        let late = stream(numbers: [3], orders: [0])
        #expect(Self.faults(late, .h264) == [StreamFault(picture: 0, .keyframeNumber(3))])
    }

    @Test("knows how many pictures an H.264 decoder holds")
    func h264References() {
        let keyframe = HandWritten.H264.picture(isIDR: true, number: 0, order: 0, references: 2)
        func follow(_ active: Int, number: Int) -> [UInt8] {
            HandWritten.H264.picture(number: number, order: 2 * number, active: active)
        }
        #expect(Self.faults([keyframe, follow(1, number: 1), follow(2, number: 2)], .h264).isEmpty)
        let greedy = Self.faults([keyframe, follow(2, number: 1), follow(3, number: 2)], .h264)
        #expect(greedy == [StreamFault(picture: 1, .missingReference), StreamFault(picture: 2, .missingReference)])
    }

    @Test("counts H.265's picture order over its end, and knows which pictures a decoder holds")
    func h265Order() {
        let keyframe = HandWritten.H265.keyframe()
        let sound = [keyframe] + (1..<40).map { HandWritten.H265.picture(order: $0) }
        #expect(Self.faults(sound, .h265).isEmpty)
        let two = [keyframe] + (1..<40).map { HandWritten.H265.picture(order: 2 * $0, references: [(-2, true)]) }
        #expect(Self.faults(two, .h265).isEmpty, "another step is the encoder's choice")

        var jump = sound
        jump.remove(at: 20)
        #expect(
            Self.faults(jump, .h265) == [
                StreamFault(picture: 20, .pictureOrderGap(21, expected: 20)),
                StreamFault(picture: 20, .previousPictureNotKept),
                StreamFault(picture: 20, .missingReference),
            ]
        )
        let second = HandWritten.H265.picture(order: 2, references: [(-1, true), (-2, true)])
        #expect(Self.faults([keyframe, sound[1], second], .h265).isEmpty)
        // The second picture drops the keyframe, so the third cannot refer to it.
        let third = HandWritten.H265.picture(order: 3, references: [(-1, true), (-3, true)])
        #expect(
            Self.faults([keyframe, sound[1], sound[2], third], .h265) == [StreamFault(picture: 3, .missingReference)]
        )
        let unused = HandWritten.H265.picture(order: 3, references: [(-1, true), (-3, false)])
        #expect(
            Self.faults([keyframe, sound[1], sound[2], unused], .h265).isEmpty,
            "a picture that is not used may be missing"
        )
    }
}
