import Media
import TestSupport
import Testing

@Suite("Bitstreams")
struct BitstreamTests {
    @Test("written elements are read back, including emulation prevention bytes", arguments: 0..<200)
    func roundTrip(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let elements = (0..<50).map { _ in
            let width = Int.random(in: 1...32, using: &generator)
            // Mostly zeros, so that prevention bytes are needed.
            let value = Bool.random(using: &generator) ? 0 : Int.random(in: 0..<(1 << width), using: &generator)
            return (kind: Int.random(in: 0...2, using: &generator), width, value: min(value, 1 << 32 - 2))
        }
        var writer = BitWriter()
        for (kind, width, value) in elements {
            switch kind {
            case 0: writer.u(width, value)
            case 1: writer.ue(value)
            default: writer.se(value / 2 - value % 7)
            }
        }
        writer.trailingBits()
        let unit = writer.annexBUnit()
        #expect(AnnexB.units(in: unit) == [AnnexB.Unit(range: 0..<unit.count, header: 4)])
        var reader = BitReader(unit[4...])
        for (kind, width, value) in elements {
            switch kind {
            case 0: #expect(try read(&reader) { try $0.u(width) } == value)
            case 1: #expect(try read(&reader) { try $0.ue() } == value)
            default: #expect(try read(&reader) { try $0.se() } == value / 2 - value % 7)
            }
        }
    }

    private func read(_ reader: inout BitReader, _ element: (inout BitReader) throws -> Int) throws -> Int {
        try element(&reader)
    }

    @Test("reading past the end and codes that are too long are errors")
    func readerErrors() throws {
        var short = BitReader([0xFF])
        _ = try short.u(7)
        #expect(throws: BitstreamError.endOfUnit) { try read(&short) { try $0.u(2) } }
        var long = BitReader([0, 0, 3, 0, 0, 3, 0, 0xFF])
        #expect(throws: BitstreamError.outOfRange("ue(v)")) { try read(&long) { try $0.ue() } }
        var largest = BitReader([0, 0, 3, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF])
        #expect(try read(&largest) { try $0.ue() } == 1 << 32 - 2)
    }

    @Test("three bytes that would read as a start code are kept apart, and a last zero is not left bare")
    func emulationPrevention() {
        #expect(EmulationPrevention.escaped([0, 0, 0, 0, 1]) == [0, 0, 3, 0, 0, 3, 1])
        #expect(EmulationPrevention.escaped([0, 0, 3, 0, 0, 4]) == [0, 0, 3, 3, 0, 0, 4])
        #expect(EmulationPrevention.escaped([1, 0, 0]) == [1, 0, 0, 3])
    }

    @Test("fields are overwritten as if the unit were written anew", arguments: 0..<2000)
    func overwrite(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 4...24, using: &generator)
        let bytesToMeet: [UInt8] = [0, 0, 0, 1, 2, 3, 4, 0x80]
        var payload = (0..<count).map { _ in bytesToMeet.randomElement(using: &generator)! }
        payload.append(0x80)
        var expected = payload
        var fields: [(BitField, value: Int)] = []
        var start = 8
        for _ in 0..<2 where start + 16 < count * 8 {
            let width = Int.random(in: 4...16, using: &generator)
            let field = BitField(position: Int.random(in: start...(start + 3), using: &generator), width: width)
            let values = [0, 1, Int.random(in: 0..<(1 << width), using: &generator)]
            let value = values.randomElement(using: &generator)!
            fields.append((field, value))
            for place in 0..<width {
                let position = field.position + place
                let mask = UInt8(0x80) >> UInt8(position % 8)
                expected[position / 8] &= ~mask
                if value >> (width - 1 - place) & 1 == 1 { expected[position / 8] |= mask }
            }
            start = field.position + width
        }
        let before: [UInt8] = [0, 0, 1], after: [UInt8] = [0, 0, 1, 9]
        let unit = EmulationPrevention.escaped(payload)
        var bytes = before + unit + after
        EmulationPrevention.overwrite(fields, inUnit: 3..<(3 + unit.count), of: &bytes)
        #expect(bytes == before + EmulationPrevention.escaped(expected) + after)
    }

    @Test("fields outside the unit are left out")
    func overwriteOutside() {
        var bytes: [UInt8] = [1, 2, 3, 4]
        EmulationPrevention.overwrite([(BitField(position: 20, width: 5), value: 0)], inUnit: 0..<3, of: &bytes)
        #expect(bytes == [1, 2, 3, 4])
    }
}
