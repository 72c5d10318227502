import Media
package import Pacing

/// The interface through which a simulated session asks for its next picture; ``SessionPacer`` conforms to it.
package protocol SimulatedPacer {
    /// Accepts the frame with this number.
    ///
    /// - Returns: The frame that it replaces.
    mutating func offer(_ frame: Int, at now: UInt64) -> Int?
    /// Returns the next action of the free encoder at `now`, if a keyframe is wanted from `demandTime` on.
    mutating func next(at now: UInt64, demandTime: UInt64?) -> PacingDecision<Int>
    /// The number of slots without a picture, although every slot should have one.
    var missed: UInt64 { get }
    /// Records that the encoder became free.
    mutating func finish(_ outcome: PictureOutcome, started: UInt64, at now: UInt64)
}

extension SessionPacer<Int>: SimulatedPacer {
    package var missed: UInt64 { counters.missed }
}
