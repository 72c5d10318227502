/// Decides when a static picture has settled.
///
/// Until then, repeats are encoded, so that the picture becomes as sharp as the encoder can make it. From then on,
/// repeats are made without the encoder.
package struct SettlingPolicy: Sendable, Equatable {
    /// The fewest repeats to encode. They also let the encoder's rate control recover from motion.
    package static let fewestRefinements = 4
    /// The number of refinements after which a picture counts as settled, whatever its quality.
    package static let mostRefinements = 120

    /// How long a picture that the rate cap did not affect is repeated before it is refined, in seconds.
    ///
    /// While a person types, the next picture comes sooner. A picture that the cap affects is refined at once, so that
    /// the encoder's rate control recovers.
    package static let patience = 0.25

    private var refinements = 0
    private var isCapped = true
    /// The number of repeats until the first refinement.
    private var waits = 0

    package init() {}

    /// Whether repeats no longer need the encoder.
    package var isSettled: Bool {
        refinements >= Self.mostRefinements || refinements >= Self.fewestRefinements && !isCapped
    }

    /// Whether the next repeat must be a refinement.
    package var isRefining: Bool { !isSettled && waits == 0 }

    /// Records that there is a new picture, even if encoding it fails.
    package mutating func pictureTaken() {
        self = SettlingPolicy()
    }

    /// Records that the new picture was encoded.
    ///
    /// - Parameters:
    ///   - isCapped: Whether the rate cap has lowered its quality.
    ///   - fps: Repeats per second.
    package mutating func pictureEncoded(isCapped: Bool, fps: Int) {
        self = SettlingPolicy()
        if !isCapped { waits = Int((Self.patience * Double(fps)).rounded(.up)) }
    }

    /// Records that the picture was repeated without the encoder.
    package mutating func repeatSkipped() {
        if waits > 0 { waits -= 1 }
    }

    /// Records that the picture was encoded again.
    ///
    /// - Parameter isCapped: Whether the rate cap has lowered its quality.
    package mutating func repeatEncoded(isCapped: Bool) {
        waits = 0
        refinements += 1
        self.isCapped = isCapped
    }

    /// Records that the picture was encoded again as a keyframe.
    ///
    /// If it is worse than the settled picture that it replaces, refinement starts again. Before the picture has
    /// settled, it counts as a refinement. Otherwise frequent keyframes would keep a picture from ever settling.
    ///
    /// - Parameter isCapped: Whether the rate cap has lowered its quality.
    package mutating func keyframeEncoded(isCapped: Bool) {
        if !isSettled {
            repeatEncoded(isCapped: isCapped)
        } else if isCapped {
            self = SettlingPolicy()
        }
    }
}
