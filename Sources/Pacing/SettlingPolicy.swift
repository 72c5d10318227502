/// Decides when a picture that stands still has settled: until then repeats are encoded, so that it becomes as sharp as the
/// encoder would make it, and from then on they are made without the encoder.
package struct SettlingPolicy: Sendable, Equatable {
    /// How many repeats are encoded at least: they also give the encoder's rate control back what the motion took.
    package static let fewestRefinements = 4
    /// After how many a picture has settled whatever it looks like.
    package static let mostRefinements = 120

    private var refinements = 0
    private var isCapped = true

    package init() {}

    /// Whether repeats need the encoder no more.
    package var isSettled: Bool {
        refinements >= Self.mostRefinements || refinements >= Self.fewestRefinements && !isCapped
    }

    /// Notes that a new picture was encoded.
    package mutating func pictureEncoded() {
        self = SettlingPolicy()
    }

    /// Notes that the picture was encoded again.
    ///
    /// - Parameter isCapped: Whether the rate cap has lowered its quality.
    package mutating func repeatEncoded(isCapped: Bool) {
        refinements += 1
        self.isCapped = isCapped
    }

    /// Notes that the picture was encoded again as a keyframe. One that is worse than a settled picture that it replaces is refined anew;
    /// before that it is a step like any other, or keyframes in quick succession would keep a picture from ever settling.
    ///
    /// - Parameter isCapped: Whether the rate cap has lowered its quality.
    package mutating func keyframeEncoded(isCapped: Bool) {
        if !isSettled {
            repeatEncoded(isCapped: isCapped)
        } else if isCapped {
            pictureEncoded()
        }
    }
}
