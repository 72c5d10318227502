import Sound
import Testing

@Suite("Sound that waits to be played")
struct JitterBufferTests {
    /// Samples of a packet of 20 ms, and of a step of the graph, 10 ms.
    private static let (packet, step) = (960, 480)

    /// Returns samples whose values are their numbers.
    private static func samples(_ count: Int, from first: Int = 1) -> [Float] {
        (first..<(first + count)).map(Float.init)
    }

    /// Plays until `count` samples were read, and returns them.
    private static func read(_ count: Int, from buffer: inout JitterBuffer) -> [Float] {
        stride(from: 0, to: count, by: step).flatMap { _ in buffer.read(step) }
    }

    @Test("begins once 40 ms are there, and loses no sample")
    func begins() {
        var buffer = JitterBuffer(channels: 1)
        buffer.take(Self.samples(Self.packet))
        #expect(buffer.read(Self.step) == Array(repeating: 0, count: Self.step) && buffer.count == Self.packet)
        buffer.take(Self.samples(Self.packet, from: 961))
        let played = Self.read(1920, from: &buffer)
        // Only the first 5 ms fade in.
        #expect(played[0] == 0 && played[240...].elementsEqual(Self.samples(1680, from: 241)))
        #expect(buffer.holes == 0)
    }

    @Test("a hole fades out, is counted, and makes the next beginning later, up to 120 ms")
    func hole() {
        var buffer = JitterBuffer(channels: 1)
        for hole in 1...8 {
            var packets = 0
            repeat {
                buffer.take(Array(repeating: 1, count: Self.packet))
                packets += 1
            } while buffer.read(Self.step).allSatisfy { $0 == 0 }
            #expect(packets == min(1 + hole, 6), "\(hole)")
            let rest = Self.read(10_000, from: &buffer)
            #expect(buffer.holes == hole && rest.last == 0)
            // Nothing jumps.
            #expect(zip(rest, rest.dropFirst()).allSatisfy { abs($0 - $1) < 0.01 })
        }
    }

    @Test("what a hole has added stays for a while, and new sound begins without it")
    func reserve() {
        var buffer = JitterBuffer(channels: 1)
        buffer.take(Array(repeating: 1, count: 2 * Self.packet))
        _ = Self.read(3 * Self.packet, from: &buffer)
        #expect(buffer.holes == 1)
        // 60 ms wait before it goes on. They are kept, although they are not needed.
        buffer.take(Array(repeating: 1, count: 3 * Self.packet))
        for _ in 0..<250 {
            _ = Self.read(Self.packet, from: &buffer)
            buffer.take(Array(repeating: 1, count: Self.packet))
        }
        #expect(buffer.count == 3 * Self.packet && buffer.holes == 1)
        buffer.end()
        _ = Self.read(4 * Self.packet, from: &buffer)
        buffer.take(Array(repeating: 1, count: 2 * Self.packet))
        #expect(buffer.read(Self.step).last == 1)
    }

    @Test("the end of the sound does not count as a hole: what waits is played at once")
    func end() {
        var buffer = JitterBuffer(channels: 1)
        buffer.take(Self.samples(Self.packet))
        buffer.end()
        #expect(Self.read(2000, from: &buffer).max() ?? 0 > 500)
        #expect(buffer.holes == 0 && buffer.count == 0)
    }

    @Test("what is never needed is left out, without a jump")
    func shortens() {
        var buffer = JitterBuffer(channels: 1)
        buffer.take(Array(repeating: 1, count: 10 * Self.packet))
        var played: [Float] = []
        for _ in 0..<150 {
            played += Self.read(Self.packet, from: &buffer)
            buffer.take(Array(repeating: 1, count: Self.packet))
        }
        #expect(buffer.count <= Self.packet + Self.step, "\(buffer.count)")
        #expect(buffer.holes == 0 && zip(played, played.dropFirst()).allSatisfy { abs($0 - $1) < 0.01 })
    }

    @Test("a step in level by what is left out is smoothed over 5 ms")
    func overlaps() {
        var buffer = JitterBuffer(channels: 1)
        // A slow ramp: what is left out would be a step of its length.
        buffer.take((0..<9600).map { Float($0) / 1000 })
        var (next, played) = (9600, [Float]())
        for _ in 0..<150 {
            played += Self.read(Self.packet, from: &buffer)
            buffer.take((next..<(next + Self.packet)).map { Float($0) / 1000 })
            next += Self.packet
        }
        let steps = zip(played, played.dropFirst()).dropFirst(240).map { $1 - $0 }
        #expect(steps.allSatisfy { $0 < 0.1 } && steps.contains { $0 > 0.002 })
    }

    @Test("at most half a second waits, and the newest stays")
    func bounded() {
        var buffer = JitterBuffer(channels: 1)
        buffer.take(Self.samples(60_000))
        #expect(buffer.count == 24_000)
        #expect(buffer.read(24_000).last == 60_000)
        buffer.take(Self.samples(100))
        buffer.clear()
        #expect(buffer.count == 0)
    }

    @Test("both channels stay apart, in fades too")
    func stereo() {
        var buffer = JitterBuffer(channels: 2)
        // Left is 1, right is -1.
        buffer.take((0..<4000).map { $0 % 2 == 0 ? 1 : -1 })
        #expect(buffer.count == 2000)
        let played = buffer.read(2400)
        #expect(played.count == 4800 && buffer.holes == 1)
        let isMirrored = stride(from: 0, to: played.count, by: 2).allSatisfy { played[$0] == -played[$0 + 1] }
        #expect(isMirrored && played[1000] == 1 && played[4799] == 0)
    }

    @Test("a cut forgets what waits, and fades out without a jump")
    func cut() {
        var buffer = JitterBuffer(channels: 1)
        buffer.take(Array(repeating: 1, count: 4 * Self.packet))
        let before = buffer.read(Self.packet)
        buffer.cut()
        let played = before.suffix(1) + buffer.read(Self.step)
        #expect(buffer.count == 0 && buffer.holes == 0 && played.last == 0)
        #expect(zip(played, played.dropFirst()).allSatisfy { abs($0 - $1) < 0.01 })
    }
}
