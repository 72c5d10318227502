package import NIOCore

/// Decides which of a session's two layers a viewer watches: the whole one, or one of smaller pictures for viewers
/// whose connections carry much less.
package struct LayerChoice: Sendable {
    /// The layers, bit/s.
    package struct Bitrates: Sendable {
        /// What the encoder of the whole layer may take now.
        package let whole: Double
        /// The most that the encoder of the small layer may take.
        package let small: Double

        package init(whole: Double, small: Double) { (self.whole, self.small) = (whole, small) }
    }

    /// The part of the whole layer's bitrate below which a viewer is better off with the small one.
    private static let little = 0.5
    /// The part of the smaller of both bitrates that a viewer must be able to get before it tries the whole layer.
    private static let ample = 0.95
    /// How long the small layer must suit better, and how long the whole one, at first.
    private static let (endurance, probation) = (TimeAmount.seconds(2), TimeAmount.seconds(5))
    /// How often the latter doubles at most: once each time the viewer has tried the whole layer.
    private static let mostDoublings = 5
    /// How long it must have watched the whole layer for its trials to be forgotten.
    private static let success = TimeAmount.minutes(5)

    /// Whether it watches the small layer.
    package private(set) var isSmall = false
    /// Since when the other layer suits better; `nil` if it does not.
    private var since: NIODeadline?
    private var trials = 0
    /// When it last came back to the whole layer.
    private var returned: NIODeadline?

    package init() {}

    /// Decides anew. Called about ten times a second while the viewer says what arrives.
    ///
    /// - Parameter allowed: What the viewer may be sent, bit/s.
    package mutating func decide(allowed: Double, _ bitrates: Bitrates, now: NIODeadline) {
        let suitsBetter =
            isSmall
            ? allowed >= min(bitrates.small, bitrates.whole) * Self.ample : allowed < bitrates.whole * Self.little
        guard suitsBetter else { return since = nil }
        let begin = since ?? now
        since = begin
        let wait = isSmall ? Int64(1 << min(trials, Self.mostDoublings)) * Self.probation : Self.endurance
        guard now - begin >= wait else { return }
        if isSmall {
            (trials, returned) = (trials + 1, now)
        } else if let returned, now - returned >= Self.success {
            trials = 0
        }
        (isSmall, since) = (!isSmall, nil)
    }

    /// Records that it watches the whole layer, because there is no other.
    package mutating func becomeWhole() { (isSmall, since) = (false, nil) }
}
