import Media
import Packaging
import TestSupport
import Testing

@Suite("A fragment of MP4")
struct FragmentTests {
    @Test("is what the standard says, byte for byte")
    func frozen() throws {
        var packager = FragmentedMP4(codec: .h264, fps: 30)
        _ = try packager.fragment(Sample.keyframe(pts: 0))
        let fragment = try packager.fragment(Sample.predicted(pts: 5_000_000_000))
        let expected = [UInt8](
            hex: """
                00000064 6d6f6f66  // moof
                00000010 6d666864 00000000 00000002  // mfhd: number 2
                0000004c 74726166  // traf
                00000010 74666864 00020000 00000001  // tfhd: default-base-is-moof, track 1
                00000014 74666474 01000000 000000012a05f200  // tfdt: 5000 s
                // trun: one sample at 108; 33333 µs, 7 bytes, depends on others, no sync sample
                00000020 7472756e 00000701 00000001 0000006c 00008235 00000007 01010000
                0000000f 6d646174 00000003 419a02  // mdat
                """
        )
        #expect(fragment.bytes.hex == expected.hex)
        #expect(!fragment.changesInitialization)
    }

    @Test("has its decode time and its picture at fixed places")
    func places() throws {
        var packager = FragmentedMP4(codec: .h264, fps: 30)
        _ = try packager.fragment(Sample.keyframe(pts: 0))
        let bytes = try packager.fragment(Sample.predicted(pts: 5_000_000_000)).bytes
        let place = FragmentedMP4.decodeTimeOffset
        #expect(bytes[place..<(place + 8)].reduce(0) { $0 << 8 | Int($1) } == 5_000_000_000)
        #expect(Array(bytes[(FragmentedMP4.headSize - 4)..<FragmentedMP4.headSize]) == Array("mdat".utf8))
    }

    @Test("is not made of an access unit of thousands of NAL units; only a keyframe can follow")
    func manyUnits() throws {
        var packager = FragmentedMP4(codec: .h264, fps: 30)
        _ = try packager.fragment(Sample.keyframe(pts: 0))
        let slices = [[UInt8]](repeating: [0x41, 0x9A, 0x02], count: 1025)
        #expect(throws: PackagingError.tooLarge) {
            try packager.fragment(Sample.accessUnit(pts: 1, key: false, slices))
        }
        #expect(throws: PackagingError.noKeyframe) { try packager.fragment(Sample.predicted(pts: 2)) }
        _ = try packager.fragment(Sample.keyframe(pts: 3))
        _ = try packager.fragment(Sample.accessUnit(pts: 4, key: false, Array(slices.dropLast())))
    }

    @Test("is not made of a keyframe whose parameter sets are longer than any stream's; another can follow")
    func longSets() throws {
        var packager = FragmentedMP4(codec: .h264, fps: 30)
        let slice: [UInt8] = [0x65, 0x88, 0x84, 0x21]
        for (number, count) in [250, 300].enumerated() {
            let set = [UInt8](repeating: 0x77, count: count == 250 ? 600 : 4)
            let sets = (0..<count).map { [0x68] + set + [0x80 | UInt8($0 >> 7), 0x80 | UInt8($0 & 0x7F)] }
            #expect(throws: PackagingError.tooLarge) {
                try packager.fragment(Sample.accessUnit(pts: Int64(number), Sample.setsH264 + sets + [slice]))
            }
        }
        _ = try packager.fragment(Sample.keyframe(pts: 3))
    }

    @Test("of a keyframe has the parameter sets, and is a sync sample")
    func keyframe() throws {
        var packager = FragmentedMP4(codec: .h264, fps: 60)
        let fragment = try packager.fragment(Sample.keyframe(pts: 7))
        #expect(fragment.changesInitialization)
        let parsed = try ParsedFragment(fragment.bytes)
        #expect(parsed.units == Sample.setsH264 + [[0x65, 0x88, 0x84, 0x21]])
        #expect(parsed.flags == 0x0200_0000)
        #expect(parsed.time == 7)
        #expect(parsed.duration == 16_667)
    }

    @Test("has none of them if the sample entry has them all")
    func outOfBand() throws {
        var packager = FragmentedMP4(codec: .h264, fps: 60, place: .sampleEntry)
        #expect(try ParsedFragment(packager.fragment(Sample.keyframe()).bytes).units == [[0x65, 0x88, 0x84, 0x21]])
        // A known set is left out; another one cannot be stored.
        let repeated = Sample.accessUnit(pts: 1, key: false, [Sample.pictureH264, [0x41, 1]])
        #expect(try ParsedFragment(packager.fragment(repeated).bytes).units == [[0x41, 1]])
        let late = Sample.accessUnit(pts: 2, key: false, [[0x68, 0xEE, 0x3C, 0x80], [0x41, 1]])
        #expect(throws: PackagingError.lateParameterSet) { try packager.fragment(late) }
        #expect(throws: PackagingError.noKeyframe) { try packager.fragment(Sample.predicted(pts: 3)) }
        #expect(throws: Never.self) { try packager.fragment(Sample.keyframe(pts: 4)) }
    }

    @Test("counts time from the origin")
    func origin() throws {
        var packager = FragmentedMP4(codec: .h264, fps: 30, origin: 1_000_000)
        #expect(throws: PackagingError.beforeOrigin) { try packager.fragment(Sample.keyframe(pts: 999_999)) }
        #expect(try ParsedFragment(packager.fragment(Sample.keyframe(pts: 1_000_000)).bytes).time == 0)
    }

    @Test("says when the initialization segment is another")
    func changes() throws {
        var packager = FragmentedMP4(codec: .h264, fps: 30)
        var changes: [Bool] = []
        changes.append(try packager.fragment(Sample.keyframe(pts: 0)).changesInitialization)
        let first = packager.initialization
        changes.append(try packager.fragment(Sample.keyframe(pts: 1)).changesInitialization)
        #expect(packager.initialization == first)
        // Fewer sets, then the old ones again.
        let fewer = Sample.accessUnit(pts: 2, [Sample.sequenceH264, Sample.pictureH264, [0x65, 0x88]])
        changes.append(try packager.fragment(fewer).changesInitialization)
        #expect(packager.initialization != first)
        changes.append(try packager.fragment(Sample.keyframe(pts: 3)).changesInitialization)
        #expect(packager.initialization == first)
        #expect(changes == [true, false, true, true])
    }

    @Test("of a keyframe that brings a parameter set twice needs no other initialization segment")
    func twice() throws {
        var packager = FragmentedMP4(codec: .h264, fps: 30)
        _ = try packager.fragment(Sample.keyframe(pts: 0))
        let twice = Sample.accessUnit(pts: 1, Sample.setsH264 + [Sample.pictureH264, [0x65, 0x88]])
        #expect(try !packager.fragment(twice).changesInitialization)
    }

    @Test("of a keyframe with more parameter sets than a stream can have is refused, and the next keyframe is not")
    func tooManyParameterSets() throws {
        var packager = FragmentedMP4(codec: .h264, fps: 30)
        let one = Array(repeating: Sample.pictureH264, count: 300)
        let other = (0..<300).map { [0x68, 0xCE, UInt8($0 >> 8) | 0x10, UInt8($0 & 0xFF) | 0x01] }
        for sets in [one, other] {
            let keyframe = Sample.accessUnit([Sample.sequenceH264] + sets + [[0x65, 0x88]])
            #expect(throws: PackagingError.tooLarge) { try packager.fragment(keyframe) }
        }
        #expect(throws: Never.self) { try packager.fragment(Sample.keyframe()) }
    }

    @Test("has every NAL unit after its length, whatever start codes, sizes and bytes", arguments: 0..<100)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let codec: Codec = Bool.random(using: &generator) ? .h264 : .h265
        let source = codec == .h264 ? [UInt8](hex: "41") : [UInt8](hex: "0201")
        var packager = FragmentedMP4(codec: codec, fps: Int.random(in: 1...240, using: &generator))
        _ = try packager.fragment(codec == .h264 ? Sample.keyframe() : try RealKeyframe.h265())
        var pts = Int64.random(in: 0...(1 << 40), using: &generator)
        for number in 2...20 {
            pts += Int64.random(in: 1...100_000, using: &generator)
            var bytes: [UInt8] = []
            var units: [[UInt8]] = []
            for _ in 0..<Int.random(in: 1...5, using: &generator) {
                let unit = Sample.slice(header: source, size: Int.random(in: 0...2000, using: &generator), &generator)
                let zeros = Int.random(in: 2...5, using: &generator)
                bytes += [UInt8](repeating: 0, count: zeros) + [1] + unit
                units.append(unit)
            }
            bytes += [UInt8](repeating: 0, count: Int.random(in: 0...3, using: &generator))
            var accessUnit = Sample.accessUnit(pts: pts, key: false, [])
            accessUnit.bytes = bytes
            let parsed = try ParsedFragment(packager.fragment(accessUnit).bytes)
            #expect(parsed.units == units)
            #expect(parsed.time == pts)
            #expect(parsed.number == number)
        }
    }

    @Test("is refused for what cannot be packaged, by name")
    func refused() throws {
        let slice: [UInt8] = [0x65, 0x88]
        let (sps, pps) = (Sample.sequenceH264, Sample.pictureH264)
        var tooManySets = [sps]
        for id in 0..<256 { tooManySets.append([0x68, 0xCE, UInt8(id), 0x80]) }
        let cases: [(PackagingError, [[UInt8]])] = [
            (.noPicture, []),
            (.noPicture, [[]]),
            (.noPicture, [sps, pps]),
            (.noParameterSets, [slice]),
            (.noParameterSets, [sps, slice]),
            (.noParameterSets, [pps, slice]),
            (.damagedParameterSet(.endOfUnit), [[0x67], pps, slice]),
            (.damagedParameterSet(.endOfUnit), [Array(sps.prefix(12)), pps, slice]),
            (
                .damagedParameterSet(.outOfRange("ue(v)")),
                [[0x67, 0x42, 0xC0, 0x28, 0, 0, 3, 0, 0, 3, 0, 0x80], pps, slice]
            ),
            (.tooLarge, [sps, pps + [UInt8](repeating: 0xFF, count: 65_532), slice]),
            (.tooLarge, tooManySets + [slice]),
        ]
        for (error, units) in cases {
            var packager = FragmentedMP4(codec: .h264, fps: 30)
            #expect(throws: error) { try packager.fragment(Sample.accessUnit(units)) }
            #expect(packager.initialization == nil)
            #expect(throws: PackagingError.noKeyframe) { try packager.fragment(Sample.predicted(pts: 1)) }
            #expect(throws: Never.self) { try packager.fragment(Sample.keyframe(pts: 2)) }
        }
    }

    @Test("follows no keyframe that was refused")
    func afterRefusal() throws {
        var packager = FragmentedMP4(codec: .h264, fps: 30)
        _ = try packager.fragment(Sample.keyframe())
        let before = packager.initialization
        // Bytes without a picture must not be slow.
        #expect(throws: PackagingError.noPicture) { try packager.fragment(Sample.accessUnit(pts: 1, key: false, [])) }
        #expect(throws: Never.self) { try packager.fragment(Sample.predicted(pts: 2)) }
        let damaged = Sample.accessUnit(pts: 3, [[0x67, 0x42], Sample.pictureH264, [0x65, 0x88]])
        #expect(throws: PackagingError.damagedParameterSet(.endOfUnit)) { try packager.fragment(damaged) }
        #expect(throws: PackagingError.noKeyframe) { try packager.fragment(Sample.predicted(pts: 4)) }
        #expect(packager.initialization == before)
        #expect(try !packager.fragment(Sample.keyframe(pts: 5)).changesInitialization)
    }

    @Test("no input makes it trap", arguments: 0..<200)
    func arbitraryBytes(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let codec: Codec = Bool.random(using: &generator) ? .h264 : .h265
        var packager = FragmentedMP4(codec: codec, fps: 30)
        var accessUnit = codec == .h264 ? Sample.keyframe() : try RealKeyframe.h265()
        for _ in 0..<Int.random(in: 1...20, using: &generator) {
            let place = Int.random(in: accessUnit.bytes.indices, using: &generator)
            accessUnit.bytes[place] = UInt8.random(in: 0...255, using: &generator)
        }
        // Either well formed or an error.
        if let fragment = try? packager.fragment(accessUnit) {
            #expect(throws: Never.self) { try ParsedFragment(fragment.bytes) }
            #expect(Box.boxes(try #require(packager.initialization).bytes) != nil)
        }
    }
}

/// A fragment's fields.
struct ParsedFragment {
    struct Malformed: Error {}

    let number: Int
    let time: Int64
    let duration: Int
    let flags: UInt32
    let units: [[UInt8]]

    init(_ bytes: [UInt8]) throws {
        guard let boxes = Box.boxes(bytes), boxes.map(\.outline) == ["moof(mfhd traf(tfhd tfdt trun))", "mdat"],
            let track = boxes[0]["traf"], let run = track["trun"], run.number(4..<8) == 1
        else { throw Malformed() }
        // The data offset leads to the picture, whose end is at the sample's size.
        guard Int(run.number(8..<12)) + boxes[1].payload.count == bytes.count,
            Int(run.number(16..<20)) == boxes[1].payload.count
        else { throw Malformed() }
        number = Int(boxes[0]["mfhd"]?.number(4..<8) ?? 0)
        time = Int64(track["tfdt"]?.number(4..<12) ?? 0)
        duration = Int(run.number(12..<16))
        flags = UInt32(run.number(20..<24))
        var rest = boxes[1].payload[...]
        var units: [[UInt8]] = []
        while !rest.isEmpty {
            let size = Int(rest.prefix(4).number)
            rest = rest.dropFirst(4)
            guard size > 0, size <= rest.count else { throw Malformed() }
            units.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        self.units = units
    }
}

/// A keyframe of x265, encoded once.
enum RealKeyframe {
    private static let stream = Result {
        try SourceStream(SourceSettings(name: "x265", encoder: .x265, keyframes: [0], pictures: 1))
    }

    static func h265() throws -> AccessUnit {
        var unit = Sample.accessUnit([])
        unit.bytes = try stream.get().accessUnits[0]
        return unit
    }
}
