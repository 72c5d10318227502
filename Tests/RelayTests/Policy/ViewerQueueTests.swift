import Media
import Relay
import RelayTestSupport
import Testing

@Suite("A viewer's queue")
struct ViewerQueueTests {
    private func picture(_ number: Int, key: Bool = false, size: Int = 32) -> MediaUnit {
        SampleStream.unit(number, key: key, size: size)
    }

    @Test("begins at a keyframe, and counts what comes before as no loss")
    func beginsAtAKeyframe() {
        var queue = ViewerQueue(limits: .init())
        queue.offer(SampleStream.rendered(picture(0)))
        #expect(queue.starves)
        queue.offer(SampleStream.rendered(picture(1, key: true)))
        queue.offer(SampleStream.rendered(picture(2)))
        #expect(queue.next()?.unit == picture(1, key: true))
        #expect(queue.next()?.unit == picture(2))
        #expect(queue.next() == nil)
        #expect(queue.counters.dropped == 0)
        #expect(queue.counters.pictures == 2)
        #expect(queue.counters.bytes == UInt64(picture(1, key: true).byteCount + picture(2).byteCount))
    }

    @Test("continues at a keyframe after a picture that is missing")
    func misses() {
        var queue = ViewerQueue(limits: .init())
        queue.miss()
        #expect(queue.counters == DeliveryCounters(), "before its first keyframe it has missed nothing")
        queue.offer(SampleStream.rendered(picture(0, key: true)))
        queue.offer(SampleStream.rendered(picture(1)))
        queue.miss()
        queue.miss()
        queue.offer(SampleStream.rendered(picture(4)))
        #expect(queue.next()?.unit == picture(0, key: true))
        #expect(queue.next()?.unit == picture(1))
        #expect(queue.next() == nil && queue.starves)
        queue.offer(SampleStream.rendered(picture(5, key: true)))
        #expect(queue.next()?.unit == picture(5, key: true))
        #expect(queue.counters.dropped == 3 && queue.counters.resyncs == 1)
    }

    @Test("reports a gap with the keyframe after it, not with the pictures that waited before it")
    func gap() {
        var queue = ViewerQueue(limits: .init())
        queue.offer(SampleStream.rendered(picture(0, key: true)))
        for number in 1...3 { queue.offer(SampleStream.rendered(picture(number))) }
        queue.miss()
        queue.offer(SampleStream.rendered(picture(5)))
        let before = (0..<4).map { _ in queue.next()?.lost }
        #expect(before == [0, 0, 0, 0])
        queue.offer(SampleStream.rendered(picture(6, key: true)))
        queue.offer(SampleStream.rendered(picture(7)))
        #expect(queue.next()?.lost == 2)
        #expect(queue.next()?.lost == 0)
    }

    @Test("adds a gap up that is followed by another before the viewer is told")
    func gaps() {
        var queue = ViewerQueue(limits: .init(bytes: 100_000, pictures: 2))
        queue.offer(SampleStream.rendered(picture(0, key: true)))
        #expect(queue.next()?.lost == 0)
        queue.miss()
        queue.offer(SampleStream.rendered(picture(2, key: true)))
        queue.offer(SampleStream.rendered(picture(3)))
        queue.offer(SampleStream.rendered(picture(4, key: true)))
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
        queue.offer(SampleStream.rendered(picture(0, key: true)))
        for number in 1...3 { queue.offer(SampleStream.rendered(picture(number))) }
        #expect(queue.isEmpty)
        #expect(queue.starves)
        #expect(queue.counters.resyncs == 1)
        #expect(queue.counters.dropped == 4)
        queue.offer(SampleStream.rendered(picture(4)))
        #expect(queue.counters.dropped == 5)
        queue.offer(SampleStream.rendered(picture(5, key: true)))
        #expect(queue.next()?.unit == picture(5, key: true))
        #expect(queue.counters.resyncs == 1)
    }

    @Test("goes on at once with a keyframe that makes it overflow")
    func goesOnWithTheKeyframeThatOverflows() {
        var queue = ViewerQueue(limits: .init(bytes: 100_000, pictures: 2))
        queue.offer(SampleStream.rendered(picture(0, key: true)))
        queue.offer(SampleStream.rendered(picture(1)))
        queue.offer(SampleStream.rendered(picture(2, key: true)))
        #expect(queue.next()?.unit == picture(2, key: true))
        #expect(queue.counters.dropped == 2)
    }

    @Test("passes a picture that is larger than its limit when nothing else waits")
    func passesALargePicture() {
        var queue = ViewerQueue(limits: .init(bytes: 10, pictures: 10))
        queue.offer(SampleStream.rendered(picture(0, key: true, size: 1000)))
        #expect(queue.next() != nil)
    }

    @Test("lets no sound push pictures out, and goes on with sound at once")
    func sound() {
        let packet = SampleStream.rendered(SampleStream.opusUnit(0))
        var queue = ViewerQueue(limits: .init(bytes: 100_000, pictures: 3))
        queue.offer(packet)
        #expect(queue.isEmpty, "nothing comes before the first keyframe")
        queue.offer(SampleStream.rendered(picture(0, key: true)))
        #expect(queue.next()?.unit.isVideo == true)
        for _ in 0..<600 { queue.offer(packet) }
        for number in 1...3 { queue.offer(SampleStream.rendered(picture(number))) }
        #expect(queue.counters.resyncs == 0)
        queue.offer(SampleStream.rendered(picture(4)))
        #expect(queue.counters.resyncs == 1 && queue.isEmpty)
        queue.offer(packet)
        #expect(queue.next()?.lost == 600)
    }

    @Test("gives no sound before the first keyframe that goes out")
    func soundBeforePictures() {
        var queue = ViewerQueue(limits: .init(bytes: 100_000, pictures: 2))
        for number in 0..<3 { queue.offer(SampleStream.rendered(picture(number, key: number == 0))) }
        #expect(queue.isEmpty)
        queue.offer(SampleStream.rendered(SampleStream.opusUnit(0)))
        #expect(queue.isEmpty)
        queue.offer(SampleStream.rendered(picture(3, key: true)))
        #expect(queue.next()?.unit.isKey == true)
    }
}
