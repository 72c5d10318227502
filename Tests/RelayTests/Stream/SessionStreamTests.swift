import Media
import NIOCore
import Relay
import RelayTestSupport
import Testing

/// A sink that records its calls.
@MediaLoop
private final class Witness: Sink {
    var demand: Demand
    var starves = false
    private(set) var told: [String] = []
    var heard: () -> Void = {}

    init(_ demand: Demand = .none) { self.demand = demand }

    func take(_ item: StreamItem) {
        heard()
        switch item {
        case .unit(let unit): told.append("unit \(unit.header.track) \(unit.pts)")
        case .feed(let source): told.append("feed \(source)")
        case .sourceLost: told.append("source lost")
        case .tracks(let tracks): told.append("tracks \(tracks.map(\.id))")
        case .end: told.append("end")
        }
    }
}

@MediaLoop
@Suite("A session's stream")
struct SessionStreamTests {
    private let stream = SessionStream(codec: .h264)

    @Test("tells each sink what happens, in order, from its attachment to its detachment or the end")
    func order() {
        let (first, second) = (Witness(), Witness())
        stream.attach(first)
        stream.feedChanged(to: .primary)
        stream.feedChanged(to: .primary)
        stream.publish(SampleStream.unit(0, key: true), now: at(0))
        stream.attach(second)
        stream.soundChanged(to: [SampleStream.opusTrack(1)])
        stream.soundChanged(to: [SampleStream.opusTrack(1)])
        stream.publish(SampleStream.opusUnit(1), now: at(1))
        stream.detach(first)
        stream.end()
        #expect(first.told == ["feed primary", "unit 0 0", "tracks [0, 1]", "unit 1 20000"])
        #expect(second.told == ["tracks [0, 1]", "unit 1 20000", "end"])
    }

    @Test("tells viewers first, whenever they came, and each sink once")
    func viewersFirst() {
        let (own, viewer) = (Witness(), Witness())
        var order: [String] = []
        own.heard = { order.append("own") }
        viewer.heard = { order.append("viewer") }
        stream.attach(own)
        stream.attach(viewer, isFirst: true)
        stream.publish(SampleStream.unit(0, key: true), now: at(0))
        #expect(order == ["viewer", "own"])
    }

    @Test("counts pictures, whatever else it carries, and knows the last one's size")
    func counts() {
        #expect(stream.size == nil)
        stream.publish(SampleStream.unit(0, key: true), now: at(0))
        stream.publish(SampleStream.opusUnit(0), now: at(0))
        #expect(stream.pictures == 1)
        #expect(stream.size == PictureSize(width: 640, height: 360))
    }

    @Test("demands what satisfies all sinks")
    func demand() {
        #expect(stream.demand == .none && !stream.isInUse)
        let changes = Witness(Demand(video: .changes, keyframeWithin: .seconds(2)))
        stream.attach(changes)
        #expect(stream.demand == Demand(video: .changes, keyframeWithin: .seconds(2)) && stream.isInUse)
        let all = Witness(Demand(video: .all, audio: [.opus], keyframeWithin: .seconds(5)))
        stream.attach(all)
        #expect(stream.demand == Demand(video: .all, audio: [.opus], keyframeWithin: .seconds(2)))
        changes.demand = .none
        #expect(stream.demand == Demand(video: .all, audio: [.opus], keyframeWithin: .seconds(5)))
        all.starves = true
        #expect(stream.starves)
    }

    @Test("says when a sink has waited for a keyframe for as long as it wants to")
    func keyframes() {
        stream.attach(Witness(Demand(video: .changes, keyframeWithin: .seconds(2))))
        #expect(!stream.isKeyframeDue(now: at(100_000)), "none has come yet")
        stream.publish(SampleStream.unit(0, key: true), now: at(0))
        stream.publish(SampleStream.unit(1, key: false), now: at(1000))
        #expect(!stream.isKeyframeDue(now: at(1999)))
        #expect(stream.isKeyframeDue(now: at(2000)))
        stream.publish(SampleStream.unit(2, key: true), now: at(2000))
        #expect(!stream.isKeyframeDue(now: at(3999)))
    }

    @Test("gives joiners the group until it is forgotten")
    func group() {
        for number in 0..<3 { stream.publish(SampleStream.unit(number, key: number == 0), now: at(0)) }
        #expect(stream.join(now: at(1)).map(\.pts) == [0, 33_333, 66_666])
        stream.forgetGroup()
        #expect(stream.join(now: at(1)).isEmpty)
    }
}
