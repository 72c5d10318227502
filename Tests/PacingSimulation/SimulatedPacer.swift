import Media
package import Pacing

/// What a simulated session asks for its next picture; ``SessionPacer`` for one.
package protocol SimulatedPacer {
    /// Takes in the frame with this number. Returns the one that it displaces.
    mutating func offer(_ frame: Int, at now: UInt64) -> Int?
    /// What the free encoder does at `now`, when somebody waits for a keyframe from `demandTime` on.
    mutating func next(at now: UInt64, demandTime: UInt64?) -> PacingDecision<Int>
    /// Slots that no picture was output for, though every one is to have one.
    var missed: UInt64 { get }
    /// Notes that the encoder became free.
    mutating func finish(_ outcome: PictureOutcome, started: UInt64, at now: UInt64)
}

extension SessionPacer<Int>: SimulatedPacer {
    package var missed: UInt64 { counters.missed }
}
