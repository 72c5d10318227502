import Fuzzing
import RelayTestSupport
import TestSupport

/// Bytes that are invalid or incomplete packets.
enum LinkBytes {
    /// Packets of the corpus.
    private static let samples: [[UInt8]] = {
        let target = FuzzTarget.all.first { $0.name == "wire" }
        let inputs = target.flatMap { try? Corpus.inputs(of: $0) } ?? []
        // The first two bytes control how the target feeds the input.
        return inputs.filter { $0.name.hasPrefix("agent") }.map { Array($0.bytes.dropFirst(2)) }
    }()

    /// Packets of the corpus with random changes.
    static func mutated(seed: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        return Mutator(corpus: samples, words: ["HLGW\u{1}", "{\"", "null", "[]"]).input(by: &random)
    }

    /// The start of a packet.
    static func torn(seed: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        guard random.chance(0.8) else { return FakeAgent.halfPacket }
        let sample = random.pick(samples)
        return Array(sample.prefix(random.int(in: 0...sample.count)))
    }

    /// What a viewer sends on its connection: messages of WebSockets, complete and broken, and arbitrary bytes.
    static func said(seed: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        let messages = [
            "{\"type\":\"keyframe\"}", "{\"type\":\"ack\",\"pts\":\(random.extreme())}",
            "{\"type\":\"clock\",\"id\":1}",
            "{\"type\":\"ack\",\"pts\":\(random.extreme() >> 1),\"presented\":\(random.extreme())}", "{}", "[",
            "{\"type\":0}",
        ]
        let text = Array(random.pick(messages).utf8)
        switch random.int(in: 0...9) {
        case ..<6:
            let frame = WebSocketClient.frame(first: 0x80 | WebSocketClient.Opcode.text, text)
            return [[UInt8]](repeating: frame, count: random.pick([1, 1, 2, 600])).flatMap(\.self)
        case 6: return WebSocketClient.frame(first: UInt8(random.int(in: 0...255)), text)
        case 7: return Array(WebSocketClient.frame(first: 0x81, text).prefix(random.int(in: 1...8)))
        case 8:
            return WebSocketClient.frame(first: 0x81, [UInt8](repeating: 0x20, count: random.int(in: 1000...100_000)))
        default: return random.bytes(random.int(in: 1...2000))
        }
    }

    /// Splits `bytes` into at most 40 pieces of a few sizes.
    static func pieces(of bytes: [UInt8]) -> [[UInt8]] {
        var (pieces, place) = ([[UInt8]](), 0)
        let sizes = [1, 15, 1, 43, 7, 180, 300]
        let least = bytes.count / 40 + 1
        while place < bytes.count {
            let end = min(bytes.count, place + max(least, sizes[pieces.count % sizes.count]))
            pieces.append(Array(bytes[place..<end]))
            place = end
        }
        return pieces
    }
}
