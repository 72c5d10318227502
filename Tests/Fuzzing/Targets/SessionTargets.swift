import Media
import NIOCore
import Relay
import Wire

extension FuzzTarget {
    /// A session's access units with arbitrary times, and a viewer's reports about them.
    static let feed = FuzzTarget("feed", words: ["\u{0}\u{0}\u{1}", "\u{0}\u{0}\u{0}\u{1}"]) { input in
        var choices = Choices(input)
        let head = choices.byte()
        let codec: Codec = head & 1 == 0 ? .h264 : .h265
        let policy = FeedSwitch.Policy(repeats: head & 2 == 0, fps: 1 + Int(head >> 4) * 15)
        var now = UInt64(1) << (head & 4 == 0 ? 33 : 62)
        let epoch: UInt64 = min(choices.number(near: now), now)
        var session = FuzzedSession(
            feed: SessionFeed(codec: codec, epoch: epoch, policy: policy),
            epoch: epoch,
            begin: .uptimeNanoseconds(now)
        )
        while !choices.isEmpty {
            now += UInt64(choices.short()) * 100_000
            try session.step(&choices, now: .uptimeNanoseconds(now))
        }
    }

    /// A session whose repeats the relay makes.
    static let rest = FuzzTarget("rest", words: ["\u{0}\u{0}\u{1}", "\u{0}\u{0}\u{0}\u{1}"]) { input in
        var choices = Choices(input)
        let head = choices.byte()
        let codec: Codec = head & 1 == 0 ? .h264 : .h265
        var now = UInt64(1) << (head & 2 == 0 ? 33 : 62)
        let picture = choices.piece()
        var stream = RepeatableStream(codec: codec)
        // As an agent sends it, or as it is.
        guard let bytes = try refusable({ try head & 4 == 0 ? stream.live(picture) : picture }) else { return }
        let keyframe = AccessUnit(
            pts: choices.number(),
            captured: choices.number(near: now),
            encodeStart: choices.number(near: now),
            encodeEnd: choices.number(near: now),
            flags: .key,
            orientation: head >> 6,
            size: PictureSize(width: 2, height: 2),
            bytes: bytes
        )
        let rest = Rest(
            keyframe: keyframe.pts,
            slot: choices.number(near: now),
            fps: choices.number(near: 60),
            keyframeInterval: choices.number(near: 10_000_000_000)
        )
        let epoch = min(choices.number(near: now), now)
        guard var session = RestingSession(rest, keyframe: keyframe, codec: codec, epoch: epoch, now: now) else {
            return
        }
        session.keyframeLead = RestCrowd.keyframeLead(of: choices.number(), interval: session.keyframeInterval)
        var (crowd, tally, last) = (RestCrowd(), RestTally(), Int64.min)
        while !choices.isEmpty {
            let choice = choices.byte()
            if choice & 1 == 0 { session.wantsKeyframe = true }
            session.isWatched = choice & 6 != 0
            crowd.count = UInt64(choices.short())
            session.lead = crowd.lead(of: choices.number(), most: session.mostLead)
            now += UInt64(choices.short()) * 300_000
            _ = session.count(to: now, tally: &tally)
            let due = session.nextTime
            if let made = session.next(at: now, tally: &tally) {
                try require(due <= now, "a picture \(due - now) ns early")
                try require(made.pts > last, "\(made.pts) behind \(last)")
                try require(!made.isKey || made.bytes == bytes, "another keyframe")
                last = made.pts
            }
            let rested = session.rested
            try require(tally.skipped + tally.missed == UInt64(rested.slots), "\(tally) of \(rested.slots) slots")
        }
    }
}

/// One agent's pictures on their way to one viewer.
private struct FuzzedSession {
    private var feed: SessionFeed
    private var group = GroupCache<MediaUnit>()
    private let epoch: UInt64
    private var latency: CaptureLatency
    private var activity = ScreenActivity()
    private var ledger: PresentationLedger
    private var request: UInt32 = 0
    private var last: Int64 = -1

    init(feed: SessionFeed, epoch: UInt64, begin: NIODeadline) {
        self.feed = feed
        self.epoch = epoch
        latency = CaptureLatency(since: begin.uptimeNanoseconds)
        ledger = PresentationLedger(now: begin)
        perform(self.feed.feedSwitch.linked(.primary, source: .streaming, now: begin))
    }

    mutating func step(_ choices: inout Choices, now: NIODeadline) throws {
        perform(feed.feedSwitch.timePassed(now: now))
        let role: AgentRole = choices.byte() & 3 == 0 ? .standby : .primary
        switch choices.byte() & 15 {
        case 0: perform(feed.feedSwitch.linked(role, source: nil, now: now))
        case 1: perform(feed.feedSwitch.linkLost(role, because: .linkClosed, now: now))
        case 2: perform(feed.feedSwitch.sourceReported(role, choices.byte() & 1 == 0 ? .lost : .streaming, now: now))
        case 3: perform(feed.feedSwitch.demand(choices.byte() & 1 == 0, now: now))
        case 4: request = feed.feedSwitch.requestKeyframe(now: now)?.id ?? request
        case 5: _ = group.join(now: now)
        default: try take(&choices, from: role, now: now)
        }
    }

    private mutating func perform(_ orders: [FeedSwitch.Order]) {
        for case .requestKeyframe(_, let id) in orders { request = id }
    }

    private mutating func take(_ choices: inout Choices, from role: AgentRole, now: NIODeadline) throws {
        let nanoseconds = now.uptimeNanoseconds
        let flags = choices.byte()
        let unit = AccessUnit(
            pts: choices.number(near: last),
            captured: choices.number(near: nanoseconds),
            encodeStart: choices.number(near: nanoseconds),
            encodeEnd: choices.number(near: nanoseconds),
            flags: AccessUnit.Flags(rawValue: flags & 7),
            keyframeRequest: flags & 8 == 0 ? request : choices.number(near: request),
            orientation: flags >> 6,
            size: PictureSize(width: 1 + choices.short(), height: 1 + choices.short()),
            bytes: choices.piece()
        )
        latency.take(unit.header, now: now)
        _ = latency.total.percentiles(now: now)
        guard let (picture, orders) = feed.accept(EncodedUnit(copying: unit), from: role, now: now) else { return }
        perform(orders)
        try require(picture.pts > last, "\(picture.pts) behind \(last)")
        last = picture.pts
        let isLive = feed.feedSwitch.source != .none
        group.add(picture, isKey: picture.isKey, byteCount: picture.byteCount, now: now)
        _ = activity.take(picture, isLive: isLive, now: now)
        let (after, time): (Int64, TimeAmount) = (choices.number(near: last), .nanoseconds(choices.number()))
        _ = activity.verdict(.changedAfter(after, settled: time), now: now)
        _ = activity.verdict(.static(time, after: after), now: now)
        let messageHead = UnitMessage.head(picture.header, relayed: picture.relayed)
        try require(messageHead.readableBytes == UnitMessage.headByteCount, "another head")
        _ = picture.configuration?.message
        ledger.sent(picture.header, now: now)
        let told: Int64 = max(0, choices.number(near: picture.pts))
        if case .counts(let time) = ledger.presented(told, at: choices.number(near: nanoseconds), now: now) {
            try require(time <= nanoseconds, "a picture was presented \(time) ns after its capture")
        }
        let snapshot = Snapshot.Picture(
            format: .jpeg,
            captured: unit.captured,
            orientation: unit.orientation,
            size: unit.size,
            bytes: []
        )
        _ = KeptSnapshot(snapshot, asked: now).pts(epoch: epoch)
    }
}
