import Media
import NIOCore
import Relay
import RelayTestSupport
import Synchronization
import Testing

/// An example of a sink, which counts the bytes of each track outside the media loop.
@MediaLoop
private final class ByteCounter: Sink {
    struct Totals: Equatable {
        var bytes: [MediaTrack.ID: Int] = [:]
        var tracks: [MediaTrack] = []
        var hasEnded = false
    }

    let demand = Demand(video: .all, audio: [.opus])
    private nonisolated let handOver: HandOver
    private nonisolated let wakes: AsyncStream<Void>
    private nonisolated let totals = Mutex(Totals())

    nonisolated init() {
        let (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.wakes = wakes
        handOver = HandOver { wake.yield() }
    }

    var starves: Bool { handOver.starves }

    /// On the media loop: nothing is copied and nothing waits.
    func take(_ item: StreamItem) { handOver.push(item) }

    /// Counts until the stream ends, on the caller's executor.
    nonisolated func count() async -> Totals {
        for await _ in wakes {
            for item in handOver.drain() { add(item) }
            if totals.withLock(\.hasEnded) { break }
        }
        return totals.withLock(\.self)
    }

    private nonisolated func add(_ item: HandOver.Item) {
        totals.withLock { totals in
            switch item {
            case .item(.unit(let unit)): totals.bytes[unit.header.track, default: 0] += unit.byteCount
            case .item(.tracks(let tracks)): totals.tracks = tracks
            case .item(.end): totals.hasEnded = true
            case .item(.feed), .item(.sourceLost), .gap: break
            }
        }
    }
}

@Suite("A sink outside the relay")
struct ByteCountingSinkTests {
    private static let sound = SampleStream.opusTrack(1)

    @Test("counts every byte of each track on another thread, and is told the end")
    func counts() async throws {
        let counter = ByteCounter()
        async let counted = counter.count()
        await play(to: counter)
        let totals = await counted
        #expect(totals.tracks == [.video(.h264), Self.sound])
        #expect(
            totals.bytes == [0: (0..<60).reduce(0) { $0 + SampleStream.unit($1, key: $1 == 0).byteCount }, 1: 60 * 3]
        )
    }

    @MediaLoop
    private func play(to sink: any Sink) {
        let stream = SessionStream(codec: .h264)
        stream.attach(sink)
        #expect(stream.demand == Demand(video: .all, audio: [.opus]))
        stream.soundChanged(to: [Self.sound])
        for number in 0..<60 {
            stream.publish(SampleStream.unit(number, key: number == 0), now: .now())
            stream.publish(SampleStream.opusUnit(number), now: .now())
        }
        stream.end()
        #expect(!stream.attach(sink), "it has ended")
    }
}
