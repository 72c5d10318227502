import CaptureAgent
import Foundation
import Media
import Packaging
import TestSupport
import Testing
import Wire

/// Sound of a sine through the flow and libavcodec, as ffmpeg decodes it.
@Suite("Sound in AAC")
struct AACTests {
    /// The monotonic instant at which the sound begins, ns. A whole number of samples since 0.
    private static let begin: UInt64 = 5_000_000_000
    private static let position: Int64 = 240_000

    /// Returns stereo samples of a sine of 1 kHz, by their positions.
    private static func sine(_ positions: Range<Int64>) -> [Float] {
        positions.flatMap { position -> [Float] in
            let value = 0.5 * Float(sin(2 * Double.pi * Double(position) / 48))
            return [value, value]
        }
    }

    /// Captures the sine between two positions, in steps of 512 samples.
    private static func play(_ positions: Range<Int64>, into flow: SoundFlow) -> [AccessUnit] {
        stride(from: positions.lowerBound, to: positions.upperBound, by: 512).flatMap { start in
            let instant = begin + UInt64(start - position) * 125_000 / 6
            return flow.take(sine(start..<min(start + 512, positions.upperBound)), at: instant)
        }
    }

    private static func decoded(_ packets: [[UInt8]]) throws -> [Float] {
        let scratch = try Scratch()
        let bytes = packets.flatMap { ADTS.header(.stereo, size: $0.count) + $0 }
        // ffmpeg mixes two channels at 3 dB less each.
        return try FFmpeg.decodeSound(of: scratch.write(bytes, to: "sound.aac").path).map { $0 / Float(2).squareRoot() }
    }

    /// Returns how far decoded samples are from the sine, as a share of it.
    ///
    /// - Parameter first: The position of the first sample.
    private static func error(of samples: some Sequence<Float>, from first: Int64) -> Double {
        var (error, power) = (0.0, 0.0)
        for (sample, position) in zip(samples, first...) {
            let expected = 0.5 * sin(2 * Double.pi * Double(position) / 48)
            error += (Double(sample) - expected) * (Double(sample) - expected)
            power += expected * expected
        }
        return (error / power).squareRoot()
    }

    private static func flow() -> SoundFlow { SoundFlow(SoundCoding()) }

    @Test("packets have the time of their decoded sound")
    func times() throws {
        let flow = Self.flow()
        flow.send(Listen(.send, [.aac]), now: Self.begin)
        let units = Self.play(Self.position..<(Self.position + 96_000), into: flow)
        #expect(units.allSatisfy { $0.header.track == 2 && $0.isKey })
        // The first one has the samples before the sound, and is complete with the second packet of samples.
        let pts = (0..<units.count).map { (Self.position - 1024 + Int64($0) * 1024) * 125 / 6 }
        #expect(units.count == 92 && units.map(\.pts) == pts)
        #expect(units.allSatisfy { $0.bytes.read { SoundCodec.aac.duration(of: $0) } == 1024 })
        let samples = try Self.decoded(units.map(\.bytes))
        // After the fade, 30 dB at least.
        let (first, middle) = (Self.position - 1024, samples[4096..<90_112])
        let error = Self.error(of: middle, from: first + 4096)
        #expect(error < 0.03, "\(error)")
        #expect(samples.count == units.count * 1024)
        // The capture of a packet's last samples ends before it does.
        let captured = units[40].captured - Self.begin
        #expect(captured == 41 * 1024 * 125_000 / 6, "\(captured)")
    }

    @Test("levels are those of the decoded sound")
    func levels() throws {
        let flow = Self.flow()
        flow.send(Listen(.send, [.aac]), now: Self.begin)
        let units = Self.play(Self.position..<(Self.position + 48_000), into: flow) + flow.idle()
        let samples = try Self.decoded(units.map(\.bytes))
        for (index, unit) in units.enumerated() {
            let part = samples[(index * 1024)..<((index + 1) * 1024)]
            let power = part.reduce(0) { $0 + Double($1) * Double($1) } / 1024
            let decibels = 10 * log10(max(power, 1e-12))
            let level = try #require(unit.header.level).decibels
            // Silence beside sound has a little of the encoder's noise.
            #expect(abs(max(level, -50) - max(decibels, -50)) < 1, "\(index): \(level), decoded \(decibels)")
        }
    }

    @Test("sound ends in digital silence, which is told once")
    func silence() throws {
        let flow = Self.flow()
        flow.send(Listen(.send, [.aac]), now: Self.begin)
        let units = Self.play(Self.position..<(Self.position + 24_000), into: flow) + flow.idle()
        let told = units.indices.filter { units[$0].header.flags.contains(.silence) }
        #expect(told == [units.count - 1])
        #expect(flow.idle().isEmpty)
        // All of the sound is in the packets, and the one that tells silence has none.
        let end = try #require(units.last).pts + 21_333
        #expect(end >= (Self.position + 24_000) * 125 / 6)
        let packets = units.map(\.bytes) + [[UInt8]](repeating: AACParameters.silence, count: 3)
        let samples = try Self.decoded(packets)
        #expect(samples.suffix(3 * 1024).allSatisfy { $0 == 0 })
        // Sound that begins again brings the samples before it.
        let begins = Self.position + 96_000
        let again = Self.play(begins..<(begins + 8192), into: flow)
        #expect(again.first?.pts == (begins - 2048) * 125 / 6)
    }

    @Test("another agent's encoder continues with the next sample", arguments: 0..<6)
    func continues(cut: Int) throws {
        let (first, second) = (Self.flow(), Self.flow())
        first.send(Listen(.send, [.aac]), now: Self.begin)
        second.keep()
        let middle = Self.position + 48_000 + Int64(cut) * 512
        var units = Self.play(Self.position..<middle, into: first)
        _ = Self.play(Self.position..<middle, into: second)
        // The last packets of the agent that is killed are lost.
        units.removeLast(3)
        let last = try #require(units.last)
        let now = Self.begin + UInt64(middle - Self.position) * 125_000 / 6
        let end = Listen.End(from: last.pts + 21_333, captured: Int64(last.captured) + 21_333_000)
        second.send(Listen(.send, [.aac], after: [.aac: end]), now: now)
        var rest: [AccessUnit] = []
        while let more = second.catchUp() { rest += more }
        rest += Self.play(middle..<(middle + 48_000), into: second)
        let steps = zip(units + rest, (units + rest).dropFirst()).map { $1.pts - $0.pts }
        #expect(rest.count > 40 && steps.allSatisfy { (21_333...21_334).contains($0) }, "\(steps)")
        let samples = try Self.decoded((units + rest).map(\.bytes))
        let from = Self.position - 1024
        let error = Self.error(of: samples[4096..<(samples.count - 4096)], from: from + 4096)
        #expect(error < 0.03, "\(error)")
        // Around the cut as everywhere.
        let place = units.count * 1024
        let atCut = Self.error(of: samples[(place - 1024)..<(place + 1024)], from: from + Int64(place) - 1024)
        #expect(atCut < 0.05, "\(atCut)")
    }

    @Test("both codecs are encoded at once, and one that begins or ends leaves the other alone")
    func both() throws {
        let (flow, alone) = (Self.flow(), Self.flow())
        flow.send(Listen(.send, [.opus]), now: Self.begin)
        alone.send(Listen(.send, [.opus]), now: Self.begin)
        let parts = (0..<4).map { (Self.position + $0 * 19_200)..<(Self.position + ($0 + 1) * 19_200) }
        var units = Self.play(parts[0], into: flow)
        flow.send(Listen(.send, [.opus, .aac]), now: Self.begin)
        units += Self.play(parts[1], into: flow)
        flow.send(Listen(.send, [.opus]), now: Self.begin)
        units += Self.play(parts[2], into: flow)
        let opus = units.filter { $0.header.track == 1 }
        let expected = parts[..<3].flatMap { Self.play($0, into: alone) }
        #expect(opus.map(\.bytes) == expected.map(\.bytes) && opus.map(\.pts) == expected.map(\.pts))
        let aac = units.filter { $0.header.track == 2 }
        let first = try #require(aac.first).pts
        #expect(aac.count == 17 && first == (Self.position + 19_200 - 1024) * 125 / 6)
    }
}
