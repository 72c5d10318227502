import Media
import NIOCore
import Relay
import RelayTestSupport
import Synchronization
import Testing

@Suite("A hand-over")
struct HandOverTests {
    private static func limits(units: Int = 600, bytes: Int = 16 << 20) -> HandOver.Limits {
        var limits = HandOver.Limits()
        (limits.units, limits.bytes) = (units, bytes)
        return limits
    }

    /// Returns what waits, as text.
    private func drained(_ handOver: HandOver) -> [String] {
        handOver.drain().map { item in
            switch item {
            case .item(.unit(let unit)):
                "\(unit.header.track):\(unit.isVideo ? unit.pts / 33_333 : unit.pts / 20_000)"
            case .gap(let gap): "gap \(gap.track):\(gap.units)"
            case .item(.end): "end"
            case .item(.feed(let source)): "\(source)"
            case .item(.sourceLost): "lost"
            case .item(.tracks(let tracks)): "\(tracks.count) tracks"
            }
        }
    }

    @Test("hands over the same memory, in order, and wakes once for all that waits")
    func passes() {
        let wakes = Atomic(0)
        let handOver = HandOver { wakes.add(1, ordering: .relaxed) }
        let units = (0..<3).map { SampleStream.unit($0, key: $0 == 0) }
        for unit in units { handOver.push(.unit(unit)) }
        #expect(wakes.load(ordering: .relaxed) == 1)
        let handed = handOver.drain().compactMap { if case .item(.unit(let unit)) = $0 { unit } else { nil } }
        #expect(zip(handed, units).allSatisfy { $0 === $1 } && handed.count == 3)
        handOver.push(.end)
        #expect(wakes.load(ordering: .relaxed) == 2)
        #expect(drained(handOver) == ["end"] && drained(handOver) == [])
    }

    @Test("drops pictures beyond its limits up to the next keyframe, and tells the gap in its place")
    func video() {
        let handOver = HandOver(limits: Self.limits(units: 2)) {}
        for number in 0..<4 { handOver.push(.unit(SampleStream.unit(number, key: number == 0))) }
        #expect(!handOver.starves, "there is no room for a keyframe")
        #expect(drained(handOver) == ["0:0", "0:1"])
        #expect(handOver.starves)
        handOver.push(.unit(SampleStream.unit(4, key: false)))
        handOver.push(.unit(SampleStream.unit(5, key: true)))
        handOver.push(.unit(SampleStream.unit(6, key: false)))
        #expect(drained(handOver) == ["gap 0:3", "0:5", "0:6"])
    }

    @Test("lets sound go on as soon as there is room")
    func sound() {
        let handOver = HandOver(limits: Self.limits(units: 2)) {}
        for number in 0..<5 { handOver.push(.unit(SampleStream.opusUnit(number))) }
        handOver.push(.unit(SampleStream.unit(0, key: true)))
        #expect(drained(handOver) == ["1:0", "1:1"])
        handOver.push(.unit(SampleStream.opusUnit(5)))
        handOver.push(.unit(SampleStream.unit(1, key: false)))
        #expect(drained(handOver) == ["gap 1:3", "1:5"], "the keyframe was lost")
    }

    @Test("takes one unit of any length, and tells a gap that nothing follows before the end")
    func large() {
        let handOver = HandOver(limits: Self.limits(bytes: 10)) {}
        handOver.push(.unit(SampleStream.unit(0, key: true, size: 1000)))
        handOver.push(.unit(SampleStream.unit(1, key: true, size: 1000)))
        handOver.push(.end)
        #expect(drained(handOver) == ["0:0", "gap 0:1", "end"])
    }

    @Test("keeps no more other messages than units, however often they come")
    func states() {
        let handOver = HandOver {}
        for _ in 0..<1000 {
            handOver.push(.feed(.none))
            handOver.push(.sourceLost)
            handOver.push(.feed(.primary))
            handOver.push(.tracks([.video(.h264)]))
        }
        handOver.push(.unit(SampleStream.unit(0, key: true)))
        handOver.push(.feed(.none))
        #expect(drained(handOver) == ["lost", "primary", "1 tracks", "0:0", "none"])
    }

    @Test("tells the gap of a track that ends")
    func lostTrack() {
        let handOver = HandOver(limits: Self.limits(units: 1)) {}
        for number in 0..<3 { handOver.push(.unit(SampleStream.opusUnit(number))) }
        handOver.push(.tracks([.video(.h264)]))
        #expect(drained(handOver) == ["1:0", "gap 1:2", "1 tracks"])
    }
}
