import HeliographAPI
import Media
import NIOCore
import Packaging
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A session's feed")
struct SessionFeedTests {
    private static func feed() -> SessionFeed {
        let policy = FeedSwitch.Policy(repeats: true, fps: 30)
        var feed = SessionFeed(codec: .h264, epoch: at(0).uptimeNanoseconds, policy: policy)
        link(&feed)
        return feed
    }

    /// Links an agent, which is asked for a keyframe.
    private static func link(_ feed: inout SessionFeed, at now: Int64 = 0) {
        _ = feed.feedSwitch.linked(.primary, source: nil, now: at(now))
    }

    private static func relink(_ feed: inout SessionFeed, at now: Int64 = 0) {
        _ = feed.feedSwitch.linkLost(.primary, because: .linkClosed, now: at(now))
        link(&feed, at: now)
    }

    private func accept(
        _ feed: inout SessionFeed,
        _ number: Int,
        key: Bool,
        at now: Int64,
        size: Int = 32
    ) -> MediaUnit? {
        // As an agent does: a keyframe answers the last request.
        let request = key ? feed.feedSwitch.lastRequestID : 0
        let unit = SampleStream.accessUnit(number, key: key, size: size, request: request)
        return feed.accept(EncodedUnit(copying: unit), from: .primary, now: at(now))?.unit
    }

    @Test("discards what comes before the first keyframe")
    func discardsBeforeTheFirstKeyframe() {
        var feed = Self.feed()
        #expect(accept(&feed, 1, key: false, at: 0) == nil)
        #expect(feed.discarded == 1)
        #expect(!feed.flows)
        #expect(accept(&feed, 2, key: true, at: 33) != nil)
        #expect(accept(&feed, 3, key: false, at: 66) != nil)
        #expect(feed.flows)
    }

    @Test(
        "gives viewers PTS that increase by 12 µs at least and are at most a minute ahead of the clock, whatever an agent sends"
    )
    func ptsIncreaseStrictly() {
        var feed = Self.feed()
        let largest = Int64(1) << 62 - 1
        let sent: [Int64] = [-5, -5, 100, 100, 99, .min, 200, largest - 1, 300, .max]
        var given: [Int64] = []
        for (index, pts) in sent.enumerated() {
            if index == 6 { Self.relink(&feed) }
            var unit = SampleStream.accessUnit(index, key: index % 6 == 0, request: feed.feedSwitch.lastRequestID)
            unit.pts = pts
            if let accepted = feed.accept(EncodedUnit(copying: unit), from: .primary, now: at(0)) {
                given.append(accepted.unit.pts)
            }
        }
        #expect(given == [0, 12, 100, 112, 124, 136, 200, 60_000_000, 60_000_012, 60_000_024])
    }

    @Test("gives pictures that come at one time different times in a transport stream, too", arguments: 0..<100)
    func timesDifferInTransportStreams(pts: Int64) throws {
        var feed = Self.feed()
        var stream = TransportStream(codec: .h264)
        var bytes: [UInt8] = []
        for number in 0..<50 {
            var unit = SampleStream.accessUnit(number, key: number == 0, request: feed.feedSwitch.lastRequestID)
            unit.pts = 1_000_000 + pts
            let accepted = feed.accept(EncodedUnit(copying: unit), from: .primary, now: at(0))
            unit.pts = try #require(accepted).unit.pts
            bytes += try stream.packets(unit)
        }
        let times = try #require(ParsedPicture.pictures(bytes)).map(\.presentation)
        #expect(times.count == 50)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("gives an H.264 keyframe right after one with the same idr_pic_id another, whichever agent sent the first")
    func keyframesDiffer() throws {
        let source = try SourceStream(
            SourceSettings(
                name: "two keyframes",
                size: PictureSize(width: 64, height: 64),
                keyframes: [0, 1],
                pictures: 3
            )
        )
        // As separate encoders do, each of which starts its own count.
        let sent = [0, 0, 1, 1, 2, 0].map { source.accessUnits[$0] }
        var feed = Self.feed()
        var given: [[UInt8]] = []
        for (index, bytes) in sent.enumerated() {
            if index == 1 { Self.relink(&feed) }
            let isKey = bytes != source.accessUnits[2]
            let request = isKey ? feed.feedSwitch.lastRequestID : 0
            var unit = SampleStream.accessUnit(index, key: isKey, request: request)
            unit.bytes = bytes
            let accepted = feed.accept(EncodedUnit(copying: unit), from: .primary, now: at(Int64(index) * 33))
            given.append(Array(try #require(accepted).unit.bytes.readableBytesView))
        }
        #expect(given.map { H264KeyframeID(of: $0)?.value } == [0, 15, 1, 2, nil, 0])
        // Nothing else changes.
        for index in [0, 2, 4, 5] { #expect(given[index] == sent[index]) }
    }

    @Test("starts over with the next agent")
    func startsOverWithTheNextAgent() {
        var feed = Self.feed()
        _ = accept(&feed, 0, key: true, at: 0)
        Self.relink(&feed)
        #expect(!feed.flows)
        #expect(accept(&feed, 1, key: false, at: 2) == nil)
        #expect(accept(&feed, 2, key: true, at: 3) != nil)
    }

    @Test("never gives a viewer a picture without its reference, whatever happens", arguments: 0..<20)
    func neverGivesADeltaWithoutItsReference(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var feed = Self.feed()
        var group = Group(bytes: 2000)
        var queue = ViewerQueue(limits: .init(bytes: 800, pictures: 8))
        var number = 0
        var lastTaken: Int?
        var now: Int64 = 0
        for _ in 0..<3000 {
            now += .random(in: 0...100, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0:
                Self.relink(&feed, at: now)
                group.cache.drop()
            case 1:
                queue = ViewerQueue(limits: .init(bytes: 800, pictures: 8))
                lastTaken = nil
                for unit in group.join(at: now) { queue.offer(SampleStream.rendered(unit)) }
            case 2...5:
                // A picture refers to the previous one, unless it is a keyframe.
                number += 1
                let key = Int.random(in: 0..<6, using: &generator) == 0
                let size = Int.random(in: 1...300, using: &generator)
                guard let unit = accept(&feed, number, key: key, at: now, size: size) else { continue }
                group.add(unit, at: now)
                queue.offer(SampleStream.rendered(unit))
            default:
                guard let picture = queue.next()?.unit else { continue }
                let taken = Int(picture.pts / 33_333)
                if !picture.isKey {
                    #expect(lastTaken == taken - 1, "picture \(taken) came after \(String(describing: lastTaken))")
                }
                lastTaken = taken
            }
        }
    }
}
