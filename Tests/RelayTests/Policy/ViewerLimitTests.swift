import Media
import NIOCore
import Relay
import RelayTestSupport
import Testing

/// A viewer's queue and its limit, checked ten times a second while ten pictures a second arrive.
private struct Watch {
    var queue = ViewerQueue(limits: .init(bytes: 1 << 20, pictures: 20))
    var limit: ViewerLimit
    var number = 0
    /// When (in ms) and why the viewer had to be closed first.
    var closed: (at: Int64, because: ViewerClosure)?

    init(limit: TimeAmount?) { self.limit = ViewerLimit(limit: limit, now: at(0)) }

    private func progress(_ hasRoom: Bool) -> ViewerProgress { ViewerProgress(queue, hasRoom: hasRoom) }

    /// Continues until `end`, in ms.
    ///
    /// - Parameter takes: Returns whether the connection accepts queued data at that instant.
    mutating func run(to end: Int64, pictures: Bool = true, takes: (Int64) -> Bool) {
        while Int64(number) * 100 < end {
            let now = Int64(number) * 100
            if pictures {
                // A keyframe is requested for a starving viewer.
                let key = number == 0 || queue.starves && takes(now)
                queue.offer(SampleStream.rendered(SampleStream.unit(number, key: key)))
            }
            while takes(now), queue.next() != nil {}
            if closed == nil, let reason = limit.check(progress(takes(now)), now: at(now)) { closed = (now, reason) }
            number += 1
        }
    }
}

@Suite("How late a viewer may be")
struct ViewerLimitTests {
    @Test("one that keeps up stays, and so does one that has nothing to take")
    func keepsUp() {
        var watch = Watch(limit: .seconds(10))
        watch.run(to: 60_000) { _ in true }
        watch.run(to: 120_000, pictures: false) { _ in false }
        #expect(watch.closed == nil)
        #expect(watch.queue.counters.dropped == 0)
    }

    @Test("one that takes nothing is closed after that time")
    func stalled() throws {
        var watch = Watch(limit: .seconds(10))
        watch.run(to: 60_000) { $0 < 5000 }
        let closed = try #require(watch.closed)
        #expect(closed.because == .stalled)
        #expect((14_900...15_000).contains(closed.at), "\(closed.at)")
    }

    @Test("one that took nothing while nothing waited has all of the time from then on")
    func stalledAfterARest() throws {
        var watch = Watch(limit: .seconds(10))
        watch.run(to: 5000) { _ in true }
        watch.run(to: 35_000, pictures: false) { _ in false }
        watch.run(to: 60_000) { _ in false }
        let closed = try #require(watch.closed)
        #expect(closed.because == .stalled)
        #expect((44_900...45_000).contains(closed.at), "\(closed.at)")
    }

    @Test(
        "one that is slow all the time is closed that long after its first drop, though it takes something now and then"
    )
    func slow() throws {
        var watch = Watch(limit: .seconds(10))
        // Everything is taken every three seconds, when more is waiting than the queue may hold.
        watch.run(to: 60_000) { $0 % 3000 == 0 }
        let closed = try #require(watch.closed)
        #expect(closed.because == .slow)
        // 20 pictures are waiting 2 s after the first was taken.
        #expect((12_000...12_200).contains(closed.at), "\(closed.at)")
    }

    @Test("one that catches up and keeps up stays, however often it falls behind")
    func recovers() {
        var watch = Watch(limit: .seconds(10))
        watch.run(to: 300_000) { $0 % 12_000 >= 3000 }
        #expect(watch.closed == nil)
        #expect(watch.queue.counters.resyncs >= 20)
    }

    @Test("one that catches up for a moment after each drop is slow all the same")
    func momentary() throws {
        var watch = Watch(limit: .seconds(10))
        watch.run(to: 60_000) { $0 % 5000 >= 3000 }
        #expect(try #require(watch.closed).because == .slow)
    }

    @Test("one that took everything stays when no keyframe follows its last drop, for the agent has gone")
    func tookEverything() {
        var watch = Watch(limit: .seconds(10))
        watch.run(to: 3000) { _ in true }
        watch.run(to: 5200) { _ in false }
        #expect(watch.queue.isBehind)
        watch.run(to: 60_000, pictures: false) { _ in true }
        #expect(watch.closed == nil)
    }

    @Test("without a limit all stay")
    func unlimited() {
        var watch = Watch(limit: nil)
        watch.run(to: 300_000) { $0 < 1000 }
        #expect(watch.closed == nil)
        #expect(watch.queue.counters.dropped > 0)
    }
}

@Suite("What all viewers may hold")
struct ViewerMemoryTests {
    @Test("is left alone within the limit")
    func within() {
        #expect(ViewerMemory(limit: 100).surplus([]) == [])
        #expect(ViewerMemory(limit: 100).surplus([50, 0, 50]) == [])
    }

    @Test("is brought within it by those who hold most, as few as possible")
    func beyond() {
        #expect(ViewerMemory(limit: 100).surplus([50, 1, 50]) == [0])
        #expect(ViewerMemory(limit: 100).surplus([10, 90, 30, 80]) == [1, 3])
        #expect(ViewerMemory(limit: 0).surplus([0, 5]) == [1])
    }
}

@Suite("Demand for a session's pictures")
struct DemandTests {
    @Test("is always there, unless the session encodes on demand")
    func always() {
        #expect(EncodingDemand(onDemand: false).isThere(now: at(1_000_000)))
        #expect(!EncodingDemand(onDemand: true).isThere(now: at(0)))
    }

    @Test("on demand ends a while after the last viewer was seen")
    func ends() {
        var demand = EncodingDemand(onDemand: true)
        demand.watched(now: at(0))
        demand.watched(now: at(1000))
        #expect(demand.isThere(now: at(1000) + EncodingDemand.patience - .milliseconds(1)))
        #expect(!demand.isThere(now: at(1000) + EncodingDemand.patience))
    }
}
