package import NIOCore

/// What a viewer's acknowledgements say about the way to it: how late pictures arrive, and how many bytes.
///
/// That the connection takes bytes says nothing, because the kernel and the network keep what they cannot deliver yet.
package struct DeliveryEstimate: Sendable {
    /// A picture that was sent and is not known to have arrived.
    private struct Sent {
        let pts: Int64
        /// When it could have been sent.
        let since: NIODeadline
        /// The bytes sent up to its end.
        let end: Int
    }

    private struct Arrival {
        let at: NIODeadline
        /// How long the picture took.
        let time: TimeAmount
        /// The bytes that had arrived then.
        let end: Int
    }

    /// A picture that is late by less waited for no other.
    package static let prompt = TimeAmount.milliseconds(15)
    /// How long an arrival counts as present, and how long it is known.
    private static let (present, window) = (TimeAmount.milliseconds(300), TimeAmount.seconds(1))
    /// The present arrivals that suffice; with fewer, those of the last second count.
    private static let enoughArrivals = 3
    /// The longest time between acknowledgements of pictures that arrive.
    private static let interval = TimeAmount.milliseconds(100)
    /// For how long the shortest time counts at least, and at most twice that.
    private static let memory = TimeAmount.seconds(5)
    /// How long a viewer may say nothing about pictures that it was sent.
    private static let patience = TimeAmount.seconds(5)
    /// Most pictures on the way that are known; the oldest are forgotten.
    private static let capacity = 600

    private var underWay = CircularBuffer<Sent>()
    private var sentBytes = 0
    /// The bytes of all pictures that have arrived.
    package private(set) var arrivedBytes = 0
    private var arrivals = CircularBuffer<Arrival>()
    /// The shortest times of the present period and of the one before.
    private var shortest: (now: TimeAmount?, before: TimeAmount?)
    private var periodBegin: NIODeadline?
    /// When a picture last waited for no other: nothing else was on the way, or it came promptly.
    package private(set) var lastUndelayed = NIODeadline.distantPast

    package init() {}

    /// Records a picture that is being sent. Repeats are left out: viewers do not acknowledge them.
    ///
    /// - Parameter since: When it could have been sent. If it has waited, it is late.
    package mutating func sent(_ pts: Int64, bytes: Int, since: NIODeadline) {
        if underWay.count == Self.capacity { _ = underWay.popFirst() }
        if underWay.isEmpty { lastUndelayed = since }
        sentBytes &+= bytes
        underWay.append(Sent(pts: pts, since: since, end: sentBytes))
    }

    /// Records that a picture has arrived, and thus all before it. Ignores one that is not on the way.
    package mutating func arrived(_ pts: Int64, now: NIODeadline) {
        guard let place = underWay.firstIndex(where: { $0.pts >= pts }), underWay[place].pts == pts else { return }
        let arrived = underWay[place]
        underWay.removeSubrange(underWay.startIndex...place)
        arrivedBytes = arrived.end
        let time = now - arrived.since
        if let begin = periodBegin, now - begin < Self.memory {
            shortest.now = min(shortest.now ?? time, time)
        } else {
            (shortest, periodBegin) = ((time, shortest.now), now)
        }
        if let shortestTime, time - shortestTime < Self.prompt { lastUndelayed = now }
        // One older than the window stays, so that the rate has a beginning.
        while arrivals.count > 1, now - arrivals[offset: 1].at > Self.window { _ = arrivals.popFirst() }
        arrivals.append(Arrival(at: now, time: time, end: arrived.end))
    }

    /// When a picture arrived last.
    package var lastArrival: NIODeadline? { arrivals.last?.at }

    /// Whether pictures are on the way.
    package var hasUnderWay: Bool { !underWay.isEmpty }

    /// Whether the viewer acknowledges pictures, and has lately if it was sent any.
    package func isKnown(now: NIODeadline) -> Bool {
        guard let last = arrivals.last else { return false }
        return underWay.isEmpty || now - last.at < Self.patience
    }

    /// The shortest time that a picture has taken lately.
    package var shortestTime: TimeAmount? { [shortest.now, shortest.before].compactMap(\.self).min() }

    /// How much later than necessary pictures arrive: all of those that arrived lately, at least.
    ///
    /// One large picture delays only a few others. If none has arrived lately, the oldest one on the way counts.
    ///
    /// - Parameter begin: What arrived before does not count.
    package func delay(since begin: NIODeadline = .distantPast, now: NIODeadline) -> TimeAmount {
        guard let shortestTime else { return .zero }
        let known = arrivals.filter { $0.at > begin && now - $0.at <= Self.window }
        let present = known.filter { now - $0.at <= Self.present }
        if let oldest = underWay.first, present.isEmpty { return max(.zero, now - oldest.since - shortestTime) }
        let counted = present.count >= Self.enoughArrivals ? present : known
        // One alone may be late because it is large.
        return counted.count > 1 ? counted.map { $0.time - shortestTime }.min() ?? .zero : .zero
    }

    /// The bit/s that arrived in the last second; `nil` if nothing did and nothing is on the way.
    package func rate(now: NIODeadline) -> Double? {
        guard let first = arrivals.first, let last = arrivals.last else { return nil }
        guard hasUnderWay || now - last.at <= Self.window else { return nil }
        // If nothing is acknowledged for longer than usual, nothing has arrived since.
        let end = hasUnderWay && now - last.at > Self.interval ? now : last.at
        // All after the first arrival came in this time before the last one. A rest between the two does not count.
        let time = min(end - first.at, Self.window + Self.interval + (end - last.at)).seconds
        return time > 0.05 ? Double(last.end &- first.end) * 8 / time : nil
    }
}
