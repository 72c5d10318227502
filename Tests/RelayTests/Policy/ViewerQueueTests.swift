import Media
import Relay
import RelayTestSupport
import Testing

@Suite("A viewer's queue")
struct ViewerQueueTests {
    private func picture(_ number: Int, key: Bool = false, size: Int = 32) -> Picture {
        Picture(SampleStream.accessUnit(number, key: key, size: size), codec: .h264, packetized: false)
    }

    @Test("begins at a keyframe, and counts what comes before as no loss")
    func beginsAtAKeyframe() {
        var queue = ViewerQueue(limits: .init())
        queue.offer(picture(0))
        #expect(queue.starves)
        queue.offer(picture(1, key: true))
        queue.offer(picture(2))
        #expect(queue.next()?.picture == picture(1, key: true))
        #expect(queue.next()?.picture == picture(2))
        #expect(queue.next() == nil)
        #expect(queue.counters.dropped == 0)
        #expect(queue.counters.pictures == 2)
        #expect(queue.counters.bytes == UInt64(picture(1, key: true).byteCount + picture(2).byteCount))
    }

    @Test("goes on at a keyframe behind a picture that cannot be had")
    func misses() {
        var queue = ViewerQueue(limits: .init())
        queue.miss()
        #expect(queue.counters == DeliveryCounters(), "before its first keyframe it has missed nothing")
        queue.offer(picture(0, key: true))
        queue.offer(picture(1))
        queue.miss()
        queue.miss()
        queue.offer(picture(4))
        #expect(queue.next()?.picture == picture(0, key: true))
        #expect(queue.next()?.picture == picture(1))
        #expect(queue.next() == nil && queue.starves)
        queue.offer(picture(5, key: true))
        #expect(queue.next()?.picture == picture(5, key: true))
        #expect(queue.counters.dropped == 3 && queue.counters.resyncs == 1)
    }

    @Test("tells of a gap with the keyframe after it, not with the pictures that waited before it")
    func gap() {
        var queue = ViewerQueue(limits: .init())
        queue.offer(picture(0, key: true))
        for number in 1...3 { queue.offer(picture(number)) }
        queue.miss()
        queue.offer(picture(5))
        let before = (0..<4).map { _ in queue.next()?.lost }
        #expect(before == [0, 0, 0, 0])
        queue.offer(picture(6, key: true))
        queue.offer(picture(7))
        #expect(queue.next()?.lost == 2)
        #expect(queue.next()?.lost == 0)
    }

    @Test("adds a gap up that is followed by another before the viewer is told")
    func gaps() {
        var queue = ViewerQueue(limits: .init(bytes: 100_000, pictures: 2))
        queue.offer(picture(0, key: true))
        #expect(queue.next()?.lost == 0)
        queue.miss()
        queue.offer(picture(2, key: true))
        queue.offer(picture(3))
        queue.offer(picture(4, key: true))
        #expect(queue.next()?.lost == 3)
        #expect(queue.counters.dropped == 3 && queue.counters.resyncs == 2)
    }

    @Test(
        "drops everything over its limits and goes on at the next keyframe",
        arguments: [
            ViewerQueue.Limits(bytes: 100_000, pictures: 3), ViewerQueue.Limits(bytes: 140, pictures: 1000),
        ]
    )
    func dropsToTheNextKeyframe(limits: ViewerQueue.Limits) {
        var queue = ViewerQueue(limits: limits)
        queue.offer(picture(0, key: true))
        for number in 1...3 { queue.offer(picture(number)) }
        #expect(queue.isEmpty)
        #expect(queue.starves)
        #expect(queue.counters.resyncs == 1)
        #expect(queue.counters.dropped == 4)
        queue.offer(picture(4))
        #expect(queue.counters.dropped == 5)
        queue.offer(picture(5, key: true))
        #expect(queue.next()?.picture == picture(5, key: true))
        #expect(queue.counters.resyncs == 1)
    }

    @Test("goes on at once with a keyframe that makes it overflow")
    func goesOnWithTheKeyframeThatOverflows() {
        var queue = ViewerQueue(limits: .init(bytes: 100_000, pictures: 2))
        queue.offer(picture(0, key: true))
        queue.offer(picture(1))
        queue.offer(picture(2, key: true))
        #expect(queue.next()?.picture == picture(2, key: true))
        #expect(queue.counters.dropped == 2)
    }

    @Test("passes a picture that is larger than its limit when nothing else waits")
    func passesALargePicture() {
        var queue = ViewerQueue(limits: .init(bytes: 10, pictures: 10))
        queue.offer(picture(0, key: true, size: 1000))
        #expect(queue.next() != nil)
    }
}
