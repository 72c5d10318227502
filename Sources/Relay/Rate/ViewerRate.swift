package import NIOCore

/// Decides how many bit/s a viewer may be sent, and when it must wait.
///
/// A proportional and integral control keeps pictures a little late, so that the way always has something to carry. How
/// late they are is measured from a picture that waited for no other. If there has been none for some seconds, less is
/// sent until there is.
package struct ViewerRate: Sendable {
    /// How late pictures should be, in s, and the goal while the way is to become empty: below 0, to reach that soon.
    private static let (target, emptying) = (0.05, -0.03)
    /// For how long all pictures may be such that have waited for others.
    private static let memory = TimeAmount.seconds(4)
    /// What the control takes away for 1 s of delay, as a part of the rate, times the seconds until that shows. More
    /// makes the rate swing more.
    private static let gain = 0.7
    /// The seconds until a change shows, besides those of the way.
    private static let reaction = 0.4
    /// The growth of the rate in a second while the way is empty, by parts of it: at first, and at most. It gains its
    /// own size each second.
    private static let (caution, courage) = (0.02, 1.0)
    /// The most that is tried, as a multiple of what arrives: only what is sent shows what can arrive.
    private static let lead = 1.4
    /// How much of the rate must arrive before more is tried.
    private static let use = 0.25
    /// The part of the rate that one decision leaves at least: if little arrives for a moment, that is not all.
    private static let remainder = 0.4
    /// The delay at which waiting helps better than sending less, and the one at which a wait ends.
    private static let (lost, found) = (TimeAmount.milliseconds(500), TimeAmount.milliseconds(70))
    /// The shortest wait that shows what arrives.
    private static let shortestWait = TimeAmount.milliseconds(100)
    /// The longest time between two decisions that counts, in s.
    private static let longest = 0.2

    /// bit/s.
    package private(set) var allowed: Double
    /// Whether what is on the way must arrive first, and what waits is too old to be sent.
    package private(set) var mustWait = false
    /// What the way seems to carry, bit/s: `allowed` without what makes pictures more or less late.
    private var sustained: Double
    private var growth = caution
    /// When the last picture before the wait arrived, and the bytes that had arrived then.
    private var wait: (arrival: NIODeadline, bytes: Int)?
    /// When the last wait ended. Pictures that came before were late because of what caused it.
    private var waitEnd = NIODeadline.distantPast
    private var lastTick: NIODeadline

    /// - Parameter allowed: What may be sent at first, bit/s.
    package init(allowed: Double, now: NIODeadline) {
        (self.allowed, sustained, lastTick) = (allowed, allowed, now)
    }

    /// Decides anew. Called about ten times a second.
    ///
    /// - Parameter limits: The least and the most that may be sent, bit/s.
    package mutating func tick(_ estimate: DeliveryEstimate, within limits: ClosedRange<Double>, now: NIODeadline) {
        let elapsed = min((now - lastTick).seconds, Self.longest)
        lastTick = now
        let delay = estimate.delay(since: waitEnd, now: now)
        follow(mustWait: estimate.hasUnderWay && delay > (mustWait ? Self.found : Self.lost), estimate, now)
        defer {
            sustained = min(max(sustained, limits.lowerBound), limits.upperBound)
            allowed = min(max(allowed, limits.lowerBound), limits.upperBound)
        }
        guard let arriving = estimate.rate(now: now), let way = estimate.shortestTime else { return }
        let isEmpty = delay < DeliveryEstimate.prompt
        let mustEmpty = !isEmpty && now - estimate.lastUndelayed > Self.memory
        let excess = delay.seconds - (mustEmpty ? Self.emptying : Self.target)
        let proportion = Self.gain / (Self.reaction + way.seconds)
        let isUsed = arriving > allowed * Self.use
        if isEmpty, isUsed {
            let most = max(sustained, arriving * Self.lead)
            sustained = min(sustained * (1 + growth * elapsed), most)
            growth = min(growth * (1 + elapsed), Self.courage)
        } else {
            growth = Self.caution
            // Critically damped: a quarter of the square.
            if excess > 0 || isUsed { sustained *= 1 - proportion * proportion / 4 * excess * elapsed }
        }
        allowed = sustained * max(Self.remainder, 1 - proportion * excess)
    }

    /// Begins or ends the wait. What arrives meanwhile is all that the way carries.
    private mutating func follow(mustWait: Bool, _ estimate: DeliveryEstimate, _ now: NIODeadline) {
        self.mustWait = mustWait
        guard let last = estimate.lastArrival else { return }
        if mustWait {
            wait = wait ?? (last, estimate.arrivedBytes)
        } else if let before = wait {
            (wait, waitEnd) = (nil, now)
            // After the last arrival nothing was on the way.
            let time = last - before.arrival
            guard time >= Self.shortestWait else { return }
            let arrived = Double(estimate.arrivedBytes &- before.bytes) * 8 / time.seconds
            sustained = min(sustained, max(arrived, sustained * Self.remainder))
        }
    }
}
