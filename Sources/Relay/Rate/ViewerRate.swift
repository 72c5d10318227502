package import NIOCore

/// Decides how many bit/s a viewer may be sent, and when it must wait.
///
/// While its pictures are late, it gets less than arrives, so that what waits on the way goes away. Then more is tried:
/// very slowly around the rate that arrived then, and fast once more has arrived.
package struct ViewerRate: Sendable {
    /// The delay up to which more is tried, the one from which on pictures are late, and the one at which waiting helps
    /// better than sending less.
    private static let (early, late, lost) = (
        TimeAmount.milliseconds(70), TimeAmount.milliseconds(150), TimeAmount.milliseconds(500)
    )
    /// The part of the arriving rate that is sent while pictures are late.
    private static let share = 0.85
    /// How long a change needs to show, besides the delay.
    private static let reaction = TimeAmount.milliseconds(500)
    /// The most that one retreat takes away leaves this part: if little arrives for a moment, that is not all.
    private static let remainder = 0.4
    /// The growth of the rate in a second, by parts of it: while it is below the rate at which pictures were late, and
    /// around that rate.
    private static let (recovery, caution) = (0.12, 0.04)
    /// The part of that rate at which recovery ends.
    private static let near = 0.92
    /// The growth once more has arrived: at first, and at most. It gains its own size each second.
    private static let (beginning, courage) = (0.15, 1.0)
    /// The longest time between two decisions that counts, in s.
    private static let longest = 0.2
    /// The shortest wait that shows what arrives.
    private static let shortestWait = TimeAmount.milliseconds(100)
    /// How much more has to arrive.
    private static let trust = 1.2
    /// How much of the rate must arrive before more is tried.
    private static let use = 0.25
    /// The most that is tried fast, as a multiple of what has arrived: only what is sent shows what arrives.
    private static let lead = 1.4

    /// bit/s.
    package private(set) var allowed: Double
    /// Whether what is on the way must arrive first, and what waits is too old to be sent.
    package private(set) var mustWait = false
    /// When the wait began, and the bytes that had arrived then.
    private var wait: (begin: NIODeadline, bytes: Int)?
    private var isLate = false
    /// The rate that arrived when pictures were late last; `nil` if more has arrived since.
    private var known: Double?
    private var growth = beginning
    private var lastRetreat: NIODeadline?
    private var lastTick: NIODeadline

    /// - Parameter allowed: What may be sent at first, bit/s.
    package init(allowed: Double, now: NIODeadline) { (self.allowed, lastTick) = (allowed, now) }

    /// Decides anew. Called about ten times a second.
    ///
    /// - Parameter limits: The least and the most that may be sent, bit/s.
    package mutating func tick(_ estimate: DeliveryEstimate, within limits: ClosedRange<Double>, now: NIODeadline) {
        let (delay, elapsed) = (estimate.delay(now: now), min((now - lastTick).seconds, Self.longest))
        lastTick = now
        if delay > Self.early { growth = Self.beginning }
        isLate = delay > (isLate ? Self.early : Self.late)
        follow(mustWait: estimate.hasUnderWay && delay > (mustWait ? Self.early : Self.lost), estimate, now)
        defer { allowed = min(max(allowed, limits.lowerBound), limits.upperBound) }
        guard let rates = estimate.rates(now: now) else { return }
        if isLate {
            if let lastRetreat, now - lastRetreat < Self.reaction + delay { return }
            retreat(to: rates.present, now)
        } else if delay <= Self.early, rates.second > allowed * Self.use {
            if let most = known, rates.second > most * Self.trust { known = nil }
            growth = known == nil ? min(growth * (1 + elapsed), Self.courage) : Self.beginning
            let isNear = known.map { allowed >= $0 * Self.near } ?? true
            let slowly = allowed * (1 + (isNear ? Self.caution : Self.recovery) * elapsed)
            let fast = known == nil ? min(allowed * (1 + growth * elapsed), rates.second * Self.lead) : 0
            allowed = max(slowly, fast)
        }
    }

    /// Begins or ends the wait. What arrives meanwhile is all that the way carries.
    private mutating func follow(mustWait: Bool, _ estimate: DeliveryEstimate, _ now: NIODeadline) {
        defer { self.mustWait = mustWait }
        if mustWait {
            wait = wait ?? (now, estimate.arrivedBytes)
        } else if let began = wait {
            wait = nil
            guard now - began.begin >= Self.shortestWait else { return }
            let arrived = Double(estimate.arrivedBytes &- began.bytes) * 8 / (now - began.begin).seconds
            retreat(to: arrived, now)
        }
    }

    private mutating func retreat(to arriving: Double, _ now: NIODeadline) {
        let arriving = max(arriving, allowed * Self.remainder)
        (known, lastRetreat) = (arriving, now)
        allowed = min(allowed, arriving) * Self.share
    }
}
