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

    package init() {}

    /// Records a picture that is being sent. Repeats are left out: viewers do not acknowledge them.
    ///
    /// - Parameter since: When it could have been sent. If it has waited, it is late.
    package mutating func sent(_ pts: Int64, bytes: Int, since: NIODeadline) {
        if underWay.count == Self.capacity { _ = underWay.popFirst() }
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
        // One older than the window stays, so that the rate has a beginning.
        while arrivals.count > 1, now - arrivals[offset: 1].at > Self.window { _ = arrivals.popFirst() }
        arrivals.append(Arrival(at: now, time: time, end: arrived.end))
    }

    /// Whether pictures are on the way.
    package var hasUnderWay: Bool { !underWay.isEmpty }

    /// Whether the viewer acknowledges pictures, and has lately if it was sent any.
    package func isKnown(now: NIODeadline) -> Bool {
        guard let last = arrivals.last else { return false }
        return underWay.isEmpty || now - last.at < Self.patience
    }

    /// How much later than necessary pictures arrive: all of those that arrived lately, at least.
    ///
    /// One large picture delays only a few others. If none has arrived lately, the oldest one on the way counts.
    package func delay(now: NIODeadline) -> TimeAmount {
        guard let base = [shortest.now, shortest.before].compactMap(\.self).min(), let last = arrivals.last else {
            return .zero
        }
        if let oldest = underWay.first, now - last.at > Self.present { return max(.zero, now - oldest.since - base) }
        let present = arrivals.filter { now - $0.at <= Self.present }
        let counted = present.count >= Self.enoughArrivals ? present : arrivals.filter { now - $0.at <= Self.window }
        // One alone may be late because it is large.
        return counted.count > 1 ? counted.map { $0.time - base }.min() ?? .zero : .zero
    }

    /// The bit/s that arrive now, and those that arrived in the last second; `nil` if that is not known.
    package func rates(now: NIODeadline) -> (present: Double, second: Double)? {
        guard let first = arrivals.first, let last = arrivals.last else { return nil }
        // If nothing is acknowledged for longer than usual, nothing has arrived since.
        let isWaiting = !underWay.isEmpty && now - last.at > Self.interval
        let end = isWaiting ? now : last.at
        /// All after an arrival came in this time before the last one. A rest between the two does not count.
        func rate(since arrival: Arrival, within time: TimeAmount) -> Double? {
            let time = min(end - arrival.at, time + Self.interval + (end - last.at)).seconds
            return time > 0.05 ? Double(last.end &- arrival.end) * 8 / time : nil
        }
        guard let second = rate(since: first, within: Self.window) else { return nil }
        let before = arrivals.last { end - $0.at > Self.present } ?? first
        return (rate(since: before, within: Self.present) ?? second, second)
    }
}
