package import Media
package import NIOCore

/// What one viewer says of when it presented pictures, checked against what it was sent.
///
/// A viewer may say anything. So an instant counts only for a picture of a new frame, captured since it joined, that it was sent in the last 10 s, each once and in their
/// order, and between the picture's sending and the acknowledgement's coming: nobody presents what has not been sent yet, or tells of it before.
/// A viewer's idea of the relay's clock is allowed an error of 0.1 s; within that the nearer of the two bounds counts. No viewer counts more
/// than 20 times a second.
package struct PresentationLedger: Sendable {
    package enum Verdict: Sendable, Equatable {
        /// From capture to presentation, ns.
        case counts(UInt64)
        /// It is about no picture that counts, or was too many.
        case passedOver
        /// The instant cannot be.
        case refused
    }

    private struct Entry {
        let pts: Int64
        let captured: UInt64
        let sent: UInt64
    }

    /// ns.
    private static let (longest, clockError) = (10_000_000_000 as UInt64, 100_000_000 as UInt64)
    /// Beyond this many the oldest are forgotten: 10 s at 60 pictures a second.
    private static let capacity = 600

    /// When it joined, monotonic ns.
    private let begin: UInt64
    private var sent = CircularBuffer<Entry>()
    private var newest: UInt64 = 0
    private var budget = TokenBucket(capacity: 20, perSecond: 20)

    package init(now: NIODeadline) { begin = now.uptimeNanoseconds }

    /// The viewer is being sent a picture.
    package mutating func sent(_ header: UnitHeader, now: NIODeadline) {
        // A repeat shows a frame of before, and joiners get some that are older than they are.
        guard !header.flags.contains(.repeat), header.captured >= begin, header.captured > newest else { return }
        // A stamp ahead of the clock must not outrank all that follow.
        newest = min(header.captured, now.uptimeNanoseconds)
        if sent.count == Self.capacity { _ = sent.popFirst() }
        sent.append(Entry(pts: header.pts, captured: header.captured, sent: now.uptimeNanoseconds))
    }

    /// The viewer says that it presented the picture of this PTS, at an instant of the relay's clock in monotonic ns.
    package mutating func presented(_ pts: Int64, at instant: UInt64, now: NIODeadline) -> Verdict {
        while let first = sent.first, first.pts < pts { _ = sent.popFirst() }
        guard let entry = sent.first, entry.pts == pts else { return .passedOver }
        _ = sent.popFirst()
        let (earliest, latest) = (entry.sent, now.uptimeNanoseconds)
        guard latest &- earliest <= Self.longest else { return .passedOver }
        guard instant >= earliest - min(Self.clockError, earliest), instant <= latest &+ Self.clockError else {
            return .refused
        }
        guard budget.take(now: now) else { return .passedOver }
        let presented = min(max(instant, earliest), latest)
        return .counts(presented - min(entry.captured, presented))
    }
}
