/// Decides when a picture that is static has settled: until then repeats are encoded, so that it becomes as sharp as the
/// encoder would make it, and from then on they are made without the encoder.
package struct SettlingPolicy: Sendable, Equatable {
    /// How many repeats are encoded at least: they also give the encoder's rate control back what the motion took.
    package static let fewestRefinements = 4
    /// After how many a picture has settled whatever it looks like.
    package static let mostRefinements = 120

    /// For how long a picture that the rate cap did not hold down is repeated as it is before it is refined, seconds: while somebody types, the next one comes
    /// sooner. What the cap holds down is refined at once, which gives the encoder's rate control back what the picture took.
    package static let patience = 0.25

    private var refinements = 0
    private var isCapped = true
    /// Repeats until the first refinement.
    private var waits = 0

    package init() {}

    /// Whether repeats need the encoder no more.
    package var isSettled: Bool {
        refinements >= Self.mostRefinements || refinements >= Self.fewestRefinements && !isCapped
    }

    /// Whether the next repeat is to be a refinement.
    package var isRefining: Bool { !isSettled && waits == 0 }

    /// Notes that there is a new picture, whatever becomes of it.
    package mutating func pictureTaken() {
        self = SettlingPolicy()
    }

    /// Notes that the new picture was encoded.
    ///
    /// - Parameters:
    ///   - isCapped: Whether the rate cap has lowered its quality.
    ///   - fps: Repeats in a second.
    package mutating func pictureEncoded(isCapped: Bool, fps: Int) {
        self = SettlingPolicy()
        if !isCapped { waits = Int((Self.patience * Double(fps)).rounded(.up)) }
    }

    /// Notes that the picture was repeated without the encoder.
    package mutating func repeatSkipped() {
        if waits > 0 { waits -= 1 }
    }

    /// Notes that the picture was encoded again.
    ///
    /// - Parameter isCapped: Whether the rate cap has lowered its quality.
    package mutating func repeatEncoded(isCapped: Bool) {
        waits = 0
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
            self = SettlingPolicy()
        }
    }
}
