package import Media
package import NIOCore

/// Checks one viewer's claims about when it presented pictures against what it was sent.
///
/// A viewer may claim anything. So a claim counts only if all of these hold:
///
/// - It is about a new frame, captured since the viewer joined and sent in the last 10 s.
/// - Each picture is claimed once, and in order.
/// - The instant lies between the sending and the acknowledgement. A viewer's clock may be off by 0.1 s; within that
///   the nearer bound counts.
/// - The viewer makes at most 20 claims per second.
package struct PresentationLedger: Sendable {
    /// The result of checking a claim.
    package enum Verdict: Sendable, Equatable {
        /// From capture to presentation, ns.
        case counts(UInt64)
        /// The picture does not count, or the viewer made too many claims.
        case passedOver
        /// The instant is impossible.
        case refused
    }

    private struct Entry {
        let pts: Int64
        let captured: UInt64
        let sent: UInt64
    }

    /// The greatest age of a picture and the greatest clock error, ns.
    private static let (longest, clockError) = (10_000_000_000 as UInt64, 100_000_000 as UInt64)
    /// Most pictures kept; the oldest are forgotten. 600 is 10 s at 60 fps.
    private static let capacity = 600

    /// When the viewer joined, monotonic ns.
    private let begin: UInt64
    private var sent = CircularBuffer<Entry>()
    private var newest: UInt64 = 0
    private var budget = TokenBucket(capacity: 20, perSecond: 20)

    package init(now: NIODeadline) { begin = now.uptimeNanoseconds }

    /// Records a picture that is being sent to the viewer.
    package mutating func sent(_ header: UnitHeader, now: NIODeadline) {
        // Repeats show old frames, and a new viewer may get frames that were captured before it joined.
        guard !header.flags.contains(.repeat), header.captured >= begin, header.captured > newest else { return }
        // A timestamp ahead of the clock must not outrank all later ones.
        newest = min(header.captured, now.uptimeNanoseconds)
        if sent.count == Self.capacity { _ = sent.popFirst() }
        sent.append(Entry(pts: header.pts, captured: header.captured, sent: now.uptimeNanoseconds))
    }

    /// Checks the claim that the picture with this PTS was presented at `instant`, on the relay's monotonic clock in
    /// ns.
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
