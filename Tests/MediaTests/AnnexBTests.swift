import Media
import TestSupport
import Testing

@Suite("Annex B")
struct AnnexBTests {
    @Test("units are found behind start codes of three and of four bytes")
    func units() {
        let bytes: [UInt8] = [0, 0, 0, 1, 0x67, 9, 0, 0, 1, 0x68, 7, 0, 0, 0, 1, 0x65, 1, 0, 2]
        #expect(
            AnnexB.units(in: bytes) == [
                AnnexB.Unit(range: 0..<6, header: 4),
                AnnexB.Unit(range: 6..<11, header: 9),
                AnnexB.Unit(range: 11..<19, header: 15),
            ]
        )
    }

    @Test("an access unit begins with a start code and a header that its codec has")
    func beginning() {
        let h264: [[UInt8]] = [
            [0, 0, 1, 0x65], [0, 0, 0, 1, 0x41, 7], [0, 0, 0, 0, 0, 1, 0x17], [0, 0, 0, 1, 0x61],
        ]
        #expect(h264.allSatisfy { AnnexB.beginsWithUnit($0, codec: .h264) })
        let none: [[UInt8]] = [
            [], [0], [0, 0], [0, 0, 0, 0], [0, 0, 1], [0, 1, 0x65], [1, 0x65], [0x65], [0, 0, 2, 0x65],
            [0, 0, 1, 0xE5], [0, 0, 1, 0x60], [0, 0, 1, 0x78],
        ]
        #expect(!none.contains { AnnexB.beginsWithUnit($0, codec: .h264) })
        let h265: [[UInt8]] = [[0, 0, 1, 0x26, 0x01], [0, 0, 0, 1, 0x40, 0x07], [0, 0, 1, 0x7E, 0x01, 9]]
        #expect(h265.allSatisfy { AnnexB.beginsWithUnit($0, codec: .h265) })
        #expect(
            ![[0, 0, 1, 0x26], [0, 0, 1, 0x26, 0x08], [0, 0, 1, 0xA6, 0x01]].contains {
                AnnexB.beginsWithUnit($0, codec: .h265)
            }
        )
    }

    @Test("an access unit has at most 1024 units")
    func mostUnits() {
        for startCode: [UInt8] in [[0, 0, 1], [0, 0, 0, 1], [0, 0, 1, 0x41], [0, 0, 0, 1, 0x41, 0x9A, 0, 0]] {
            let bytes = [[UInt8]](repeating: startCode, count: AnnexB.maximumUnits).flatMap(\.self)
            #expect(!AnnexB.hasTooManyUnits(bytes))
            #expect(!AnnexB.hasTooManyUnits(bytes + [UInt8](repeating: 7, count: 100_000)))
            #expect(AnnexB.hasTooManyUnits(bytes + [7, 0, 0, 1]))
        }
    }

    @Test("no input makes it read past the end", arguments: 0..<200)
    func arbitraryBytes(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let bytes = (0..<Int.random(in: 0...64, using: &generator)).map { _ in
            UInt8.random(in: 0...2, using: &generator)
        }
        let units = AnnexB.units(in: bytes)
        for unit in units {
            #expect(unit.range.lowerBound >= 0 && unit.range.upperBound <= bytes.count)
            #expect(Array(bytes[(unit.header - 3)..<unit.header]) == [0, 0, 1])
        }
        for (unit, next) in zip(units, units.dropFirst()) {
            #expect(unit.range.upperBound == next.range.lowerBound)
        }
        // The expected count follows the plain definition: every 00 00 01.
        let plain = bytes.indices.dropLast(min(2, bytes.count)).count { Array(bytes[$0..<($0 + 3)]) == [0, 0, 1] }
        #expect(units.count == plain)
        // The position of each header is known beforehand.
        var walk = AnnexB.Units(bytes)
        for unit in units {
            #expect(walk.header == unit.header)
            #expect(walk.next() == unit)
        }
        #expect(walk.header == nil && walk.next() == nil)
    }

    @Test("the parameter sets of a keyframe are what stands before its first slice")
    func parameterSets() throws {
        let sps: [UInt8] = [0, 0, 0, 1, 0x67, 0x42, 1]
        let pps: [UInt8] = [0, 0, 0, 1, 0x68, 0xCE]
        let sei: [UInt8] = [0, 0, 1, 0x06, 5]
        let slice: [UInt8] = [0, 0, 1, 0x65, 0x88, 0x80]
        let sets = try #require(ParameterSets(leading: sps + pps + sei + slice, codec: .h264))
        #expect(sets.bytes == sps + pps)
        #expect(ParameterSets(leading: slice, codec: .h264) == nil)
        #expect(ParameterSets(leading: [UInt8](), codec: .h264) == nil)
    }
}
