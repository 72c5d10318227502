import TestSupport
import Testing
import Wire

@Suite("Whatever bytes come")
struct DecoderFuzzTests {
    private static let limit = 4 << 10
    private static let valid = SamplePackets.agentToRelay.flatMap(\.bytes)

    /// Feeds `bytes` in random pieces and checks what must hold for any bytes.
    private func feed(_ bytes: [UInt8], _ generator: inout SeededGenerator) {
        var decoder = PacketDecoder(accepting: .agentToRelay, maximumLength: Self.limit)
        var place = 0
        while place < bytes.count {
            let piece = min(Int.random(in: 1...600, using: &generator), bytes.count - place)
            decoder.append(bytes[place..<(place + piece)])
            place += piece
            do throws(WireError) {
                while let packet = try decoder.next() {
                    #expect(packet.type.direction == .agentToRelay)
                }
                #expect(heldBytes(decoder) < PacketHeader.byteCount + Self.limit)
            } catch {
                #expect(throws: error) { try decoder.next() }
                return
            }
        }
    }

    @Test("the decoder survives noise")
    func survivesNoise() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<500 {
            let count = Int.random(in: 0...4000, using: &generator)
            feed((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }, &generator)
        }
    }

    @Test("the decoder survives damaged packets")
    func survivesDamagedPackets() {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<3000 {
            var bytes = Self.valid + Self.valid
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = .random(in: .min ... .max, using: &generator)
                case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 2: bytes.remove(at: place)
                default: bytes.insert(.random(in: .min ... .max, using: &generator), at: place)
                }
            }
            feed(bytes, &generator)
        }
    }

    @Test("the decoder survives true headers with false bodies")
    func survivesFalseBodies() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            let count = Int.random(in: 0...300, using: &generator)
            var bytes = SamplePackets.hex("484C4757 01 00 0000 00000001 00000000")
            bytes[5] = .random(in: 64...75, using: &generator)
            bytes[14] = UInt8(count >> 8)
            bytes[15] = UInt8(count & 0xFF)
            bytes += (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            feed(bytes, &generator)
        }
    }
}
