package import NIOCore

/// What a session's bitrate knows of one viewer: what arrives there, and how much it may be sent.
package struct FollowedViewer: Sendable {
    /// What it says about the bitrate.
    package struct Vote: Sendable {
        /// What it may be sent, bit/s.
        package let allowed: Double
        /// Whether it has lately said what arrives.
        package let isPresent: Bool

        package init(allowed: Double, isPresent: Bool) { (self.allowed, self.isPresent) = (allowed, isPresent) }
    }

    private var estimate = DeliveryEstimate()
    private var rate: ViewerRate?
    private var isPresent = false
    private var choice = LayerChoice()

    package init() {}

    /// Whether it should watch the layer of smaller pictures.
    package var wantsSmall: Bool { choice.isSmall }

    /// Records that it watches the whole layer, because there is no other.
    package mutating func becomeWhole() { choice.becomeWhole() }

    /// Whether nothing may be sent until what is on the way has arrived. What waits is too old then.
    package var mustWait: Bool { isPresent && rate?.mustWait == true }

    /// Records a picture that is being sent and is not a repeat.
    ///
    /// - Parameter since: When it could have been sent.
    package mutating func sent(_ pts: Int64, bytes: Int, since: NIODeadline) {
        estimate.sent(pts, bytes: bytes, since: since)
    }

    /// Records that a picture has arrived, and thus all before it.
    package mutating func arrived(_ pts: Int64, now: NIODeadline) { estimate.arrived(pts, now: now) }

    /// Decides anew how much it may be sent; `nil` if it has never said what arrives.
    ///
    /// - Parameters:
    ///   - limits: The least and the most, bit/s.
    ///   - layers: The session's layers; `nil` if it has only one.
    package mutating func decide(
        within limits: ClosedRange<Double>,
        layers: LayerChoice.Bitrates? = nil,
        now: NIODeadline
    ) -> Vote? {
        isPresent = estimate.isKnown(now: now)
        if isPresent {
            var decided = rate ?? ViewerRate(allowed: limits.upperBound, now: now)
            decided.tick(estimate, within: limits, now: now)
            rate = decided
            if let layers { choice.decide(allowed: decided.allowed, layers, now: now) }
        }
        return rate.map { Vote(allowed: $0.allowed, isPresent: isPresent) }
    }
}

extension Sequence<FollowedViewer.Vote> {
    /// What viewers may be sent, bit/s: those that are present; if none is, as they last were.
    package var allowed: [Double] {
        let present = filter(\.isPresent)
        return (present.isEmpty ? Array(self) : present).map(\.allowed)
    }
}
