import CaptureAgent
import Foundation
import Media
import Testing
import Wire

@Suite("Sound")
struct SoundTests {
    /// The monotonic instant at which the sound of the tests begins, ns. A whole number of samples since 0.
    private static let begin: UInt64 = 5_000_000_000

    /// Returns stereo samples of a sine of 1 kHz.
    ///
    /// - Parameter first: The number of the first sample.
    private static func sine(_ count: Int, from first: Int = 0, amplitude: Float = 0.5) -> [Float] {
        (first..<(first + count)).flatMap { index -> [Float] in
            let value = amplitude * Float(sin(2 * Double.pi * 1000 * Double(index) / 48_000))
            return [value, value]
        }
    }

    private static let silence = [Float](repeating: 0, count: 960 * 2)

    private static func samples(_ values: [Float], at position: Int64) -> SoundSamples {
        SoundSamples(position: position, values: values)
    }

    // MARK: - Positions

    @Test("instants and positions agree to a sample")
    func positions() {
        for instant in [0, 125_000, 1_000_000_000, 86_400_000_000_000, 20_833 as UInt64] {
            let position = SoundSamples.position(at: instant)
            #expect(position == Int64(instant * 6 / 125_000))
            #expect(instant - SoundSamples.instant(at: position) < 20_834)
        }
        // A year of uptime overflows nothing.
        #expect(SoundSamples.position(at: 31_536_000_000_000_000) == 1_513_728_000_000)
    }

    // MARK: - The clock

    /// Places 30 minutes of sound from a device whose clock is off, and corrects it as the resampler does.
    ///
    /// - Returns: How far positions are from the true ones: the greatest after the first minute, in ms, and how many
    ///   jumps there were.
    private static func drift(partsPerMillion: Double, jitter: Double = 0) -> (milliseconds: Double, jumps: Int) {
        var (clock, rest) = (SoundClock(), 0)
        var (captured, greatest, jumps) = (0, 0.0, 0)
        for quantum in 0..<(30 * 60 * 48_000 / 1024) {
            let time = Double(captured) / (48_000 * (1 + partsPerMillion / 1e6))
            let noise = jitter * (Double(quantum * 7919 % 101) / 50 - 1)
            let placement = clock.place(count: 1024, at: begin + UInt64((time + noise + 1) * 1e9))
            if placement.jumps { jumps += 1 }
            // A correction makes some samples more or fewer of a million.
            rest += 1024 * placement.correction
            let count = 1024 + rest / 1_000_000
            rest %= 1_000_000
            clock.took(count)
            let counted = Double(placement.position - SoundSamples.position(at: begin)) / 48_000
            if quantum > 60 * 47 { greatest = max(greatest, abs(counted - time - 1)) }
            captured += 1024
        }
        return (greatest * 1000, jumps)
    }

    @Test("stays within 10 ms of a device's clock that is off by 200 ppm, for 30 minutes", arguments: [200.0, -200, 0])
    func drifts(partsPerMillion: Double) {
        let (milliseconds, jumps) = Self.drift(partsPerMillion: partsPerMillion)
        #expect(milliseconds < 10 && jumps == 1, "\(milliseconds) ms, \(jumps) jumps")
        let noisy = Self.drift(partsPerMillion: partsPerMillion, jitter: 0.005)
        #expect(noisy.milliseconds < 10 && noisy.jumps == 1, "\(noisy)")
    }

    @Test("jumps if more than 15 ms are missing, and only then")
    func jumps() {
        var clock = SoundClock()
        func place(_ milliseconds: Double) -> SoundClock.Placement {
            let placement = clock.place(count: 480, at: Self.begin + UInt64(milliseconds * 1e6))
            clock.took(480)
            return placement
        }
        let (first, second) = (place(0), place(10))
        #expect(first.position == 240_000 && first.jumps && first.correction == 0)
        #expect(second.position == 240_480 && !second.jumps && second.correction == 0)
        #expect(place(34).jumps == false)
        #expect(place(46).jumps == true)
        #expect(place(20).jumps == true)
        clock.stop()
        #expect(place(21).jumps == true)
    }

    @Test("a lost cycle of the graph is a gap, and what follows is in its place at once")
    func lostCycle() {
        var clock = SoundClock()
        var jumps: [UInt64] = []
        for cycle in [0, 1, 2, 4, 5] as [UInt64] {
            let placement = clock.place(count: 1024, at: Self.begin + cycle * 1024 * 125_000 / 6)
            clock.took(1024)
            if placement.jumps { jumps.append(cycle) }
            // A position is a multiple of 6.
            let late = placement.position - SoundSamples.position(at: Self.begin) - Int64(cycle) * 1024
            #expect(0..<6 ~= late && placement.correction == 0, "\(cycle): \(placement)")
        }
        #expect(jumps == [0, 4])
    }

    // MARK: - The resampler

    @Test("stretches a sine without a click, also when it begins and ends", arguments: [500, -500])
    func resamples(correction: Int) {
        let resampler = SoundResampler()
        var output: [Float] = []
        for part in 0..<200 {
            let isOn = (50..<150).contains(part)
            output += resampler.process(Self.sine(480, from: part * 480), correction: isOn ? correction : 0)
        }
        let left = stride(from: 0, to: output.count, by: 2).map { output[$0] }
        let expected = 96_000 + 100 * 480 * Double(correction) / 1e6
        // The filter holds back less than a millisecond.
        #expect(abs(Double(left.count) - expected) < 64)
        // A sine of 1 kHz at half amplitude never moves further than this from one sample to the next.
        let steepest = 0.5 * 2 * Float.pi * 1000 / 48_000
        let steps = zip(left, left.dropFirst()).map { abs($0 - $1) }
        #expect(steps.max()! < steepest * 1.01)
        #expect(left.map(abs).max()! < 0.505)
        // Its second difference shows a kink where the parts meet.
        let kinks = zip(zip(left, left.dropFirst()), left.dropFirst(2)).map { abs($0.0 - 2 * $0.1 + $1) }
        #expect(kinks.max()! < steepest * steepest / 0.5 * 1.05)
    }

    @Test("passes sound unchanged until a correction")
    func passes() {
        let resampler = SoundResampler()
        let sine = Self.sine(1000)
        #expect(resampler.process(sine, correction: 0) == sine)
    }

    // MARK: - Packets

    @Test("have one size, and times that follow one another")
    func packets() {
        var packets = SoundPackets(size: 960, lookahead: 312, from: 0)
        var made: [SoundPacket] = []
        for part in 0..<30 {
            made += packets.take(Self.samples(Self.sine(512, from: part * 512), at: 6000 + Int64(part) * 512))
        }
        #expect(made.count == 16)
        #expect(made.map(\.samples.position) == (0..<16).map { 6000 + $0 * 960 })
        #expect(made.allSatisfy { $0.samples.count == 960 && !$0.beginsSilence })
        let values = made.flatMap(\.samples.values)
        // The first 5 ms fade in.
        #expect(Array(values[480...]) == Array(Self.sine(16 * 960)[480...]))
        #expect(values[0] == 0 && abs(values[240] - Self.sine(960)[240] / 2) < 0.01)
    }

    @Test("tell digital silence once, and leave it out")
    func silence() {
        var packets = SoundPackets(size: 960, lookahead: 312, from: 0)
        var position: Int64 = 0
        func take(_ values: [Float]) -> [SoundPacket] {
            defer { position += 960 }
            return packets.take(Self.samples(values, at: position))
        }
        // Silence at the start is not told.
        #expect(take(Self.silence).isEmpty)
        #expect(take(Self.sine(960)).map(\.beginsSilence) == [false])
        #expect(take(Self.silence).map(\.beginsSilence) == [false])
        #expect(take(Self.silence).map(\.beginsSilence) == [true])
        for _ in 0..<100 { #expect(take(Self.silence).isEmpty) }
        let again = take(Self.sine(960))
        #expect(again.map(\.samples.position) == [104 * 960])
    }

    @Test("end with a fade and silence when the source becomes idle")
    func idle() {
        var packets = SoundPackets(size: 960, lookahead: 312, from: 0)
        _ = packets.take(Self.samples(Self.sine(1500), at: 0))
        let last = packets.idle()
        #expect(last.map(\.samples.position) == [960, 1920, 2880])
        #expect(last.map(\.beginsSilence) == [false, false, true])
        // 540 samples waited; the last 240 of them fade, and zeros follow.
        let values = last[0].samples.values
        #expect(values[2 * 538] != 0 && abs(values[2 * 538]) < 0.01)
        #expect(values[(2 * 540)...].allSatisfy { $0 == 0 })
        #expect(packets.idle().isEmpty)
        // The next sound has a grid of its own.
        let next = packets.take(Self.samples(Self.sine(960), at: 600_000))
        #expect(next.map(\.samples.position) == [600_000])
    }

    @Test("begin anew after a gap, and never go back")
    func gaps() {
        var packets = SoundPackets(size: 960, lookahead: 312, from: 0)
        _ = packets.take(Self.samples(Self.sine(1500), at: 0))
        let after = packets.take(Self.samples(Self.sine(1000), at: 30_000))
        #expect(after.map(\.samples.position) == [960, 30_000])
        // 40 samples of before wait until 30,960 + 960.
        let back = packets.take(Self.samples(Self.sine(5000), at: 28_000))
        #expect(back.map(\.samples.position).first == 30_960)
        #expect(zip(back, back.dropFirst()).allSatisfy { $0.samples.end <= $1.samples.position })
    }

    @Test("continue another agent's sound at the sample where it ended")
    func continues() {
        var packets = SoundPackets(size: 960, lookahead: 312, from: 12_345, isContinued: true)
        let made = packets.take(Self.samples(Self.sine(48_000), at: 0))
        #expect(made[0].samples.position == 12_345)
        // Nothing fades where the sound goes on.
        #expect(made[0].samples.values == Array(Self.sine(960, from: 12_345)))
        var late = SoundPackets(size: 960, lookahead: 312, from: 12_345, isContinued: true)
        #expect(late.take(Self.samples(Self.sine(960), at: 24_000))[0].samples.values[240] != Self.sine(960)[240])
        // An idle source is told, because the other agent may have ended amid sound.
        var idle = SoundPackets(size: 960, lookahead: 312, from: 12_345, isContinued: true)
        #expect(idle.idle().map(\.beginsSilence) == [false, true])
    }

    // MARK: - The flow

    private static func pts(_ units: [AccessUnit]) -> [Int64] { units.map(\.pts) }

    @Test("gives packets the time of their decoded sound", arguments: SoundCoding.PacketDuration.allCases)
    func times(duration: SoundCoding.PacketDuration) throws {
        var coding = SoundCoding()
        coding.packet = duration
        let flow = SoundFlow(coding)
        flow.send(Listen(.send), now: Self.begin)
        let units = flow.take(Self.sine(duration.samples * 3), at: Self.begin)
        let lookahead: Int64 = coding.isLowDelay ? 2500 : 6500
        let step = Int64(duration.samples) * 125 / 6
        #expect(Self.pts(units) == (0..<3).map { 5_000_000 - lookahead + $0 * step })
        for unit in units {
            #expect(unit.header.track == 1 && unit.isKey)
            let packet = try #require(unit.bytes.read { OpusPacket($0) })
            #expect(packet.duration == UInt32(duration.samples))
        }
        #expect(units[0].captured == Self.begin)
    }

    @Test("continues with the sample that another agent would have sent next, however each counts", arguments: 0..<8)
    func sameSample(offset: Int) throws {
        // It began at another sample, from which it counts on its own grid.
        let first = Self.begin + UInt64(offset) * 20_833 + 700
        let flow = SoundFlow(SoundCoding())
        flow.keep()
        for part in 0..<60 {
            _ = flow.take(Self.sine(512, from: part * 512), at: first + UInt64(part) * 512 * 125_000 / 6)
        }
        let next = Self.begin + 400_000_000
        let units = flow.sendAll(from: 5_393_500, captured: Int64(next), now: next + 200_000_000)
        let unit = try #require(units.first)
        #expect(unit.pts == 5_393_500)
        #expect(abs(Int64(unit.captured) - Int64(next)) <= 10_500, "\(Int64(unit.captured) - Int64(next)) ns")
        // It goes on in the same way.
        let more = flow.take(Self.sine(2048), at: first + 60 * 512 * 125_000 / 6)
        let last = try #require(more.last)
        #expect(abs(Int64(last.captured - unit.captured) - (last.pts - unit.pts) * 1000) <= 21_000)
    }

    @Test("keeps a second, and continues there when another agent ends")
    func standby() throws {
        let flow = SoundFlow(SoundCoding())
        flow.keep()
        for part in 0..<300 {
            let instant = Self.begin + UInt64(part) * 10_000_000
            #expect(flow.take(Self.sine(480, from: part * 480), at: instant).isEmpty)
        }
        let now = Self.begin + 3_000_000_000
        // The other agent's last packet ended 400 ms ago.
        let units = flow.sendAll(from: 7_600_000, now: now)
        #expect(units.first?.pts == 7_600_000 && units.count == 19)
        #expect(zip(units, units.dropFirst()).allSatisfy { $1.pts - $0.pts == 20_000 })
        // It is more than a second ago: all that is kept is sent.
        let late = flow.sendAll(from: 6_000_000, now: now)
        #expect(late.first.map { (6_990_000...7_020_000).contains($0.pts) } == true && late.count >= 48)
        // What is captured meanwhile comes after what is kept.
        flow.keep()
        flow.send(Listen(.send, after: [.opus: .init(from: 7_600_000)]), now: now)
        #expect(flow.catchUp() != nil && flow.take(Self.sine(480), at: now).isEmpty)
        var rest: [AccessUnit] = []
        while let more = flow.catchUp() { rest += more }
        #expect(zip(rest, rest.dropFirst()).allSatisfy { $1.pts - $0.pts == 20_000 } && rest.last?.pts == 7_980_000)
        // Times that cannot be are taken for now.
        for from in [0, -1, .min, .max, 1 << 62, 18_446_744_073_709_552, 60_000_000] as [Int64] {
            #expect(flow.sendAll(from: from, now: now).isEmpty, "\(from)")
        }
        // What still comes after the end is not kept.
        flow.stop()
        #expect(flow.take(Self.sine(480), at: now).isEmpty)
        #expect(flow.sendAll(from: 7_600_000, now: now).isEmpty)
    }
}

extension SoundFlow {
    /// Begins to send, and returns the units of what is kept.
    fileprivate func sendAll(
        _ codec: SoundCodec = .opus,
        from: Int64,
        captured: Int64? = nil,
        now: UInt64
    ) -> [AccessUnit] {
        keep()
        send(Listen(.send, [codec], after: [codec: .init(from: from, captured: captured)]), now: now)
        var units: [AccessUnit] = []
        while let more = catchUp() { units += more }
        return units
    }
}
