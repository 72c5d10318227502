/// Decides where captured sound belongs on the monotonic clock, although the device that makes it has its own clock.
///
/// The device's samples follow one another without a gap, so their positions are counted, and the measured times only
/// correct the count. If the count is off by more than 2 ms, the sound is stretched or shortened by 500 ppm, which
/// is inaudible, until it is right again. A difference of more than 15 ms is a gap: the count jumps. A busy machine
/// loses cycles of PipeWire's graph, which last 21 ms by default, and a correction of that would take 40 s.
package struct SoundClock: Sendable {
    /// What to do with the next samples.
    package struct Placement: Sendable, Equatable {
        /// The position of the first one.
        package var position: Int64
        /// Whether they do not continue the samples before.
        package var jumps: Bool
        /// How many more samples to make of a million: 0, 500 or -500.
        package var correction: Int
    }

    /// The greatest difference that is corrected by stretching, in samples: 15 ms.
    private static let longestDifference: Double = 720
    /// The difference at which a correction begins, in samples: 2 ms.
    private static let tolerance: Double = 96
    /// The size of a correction, in samples of a million.
    package static let correction = 500
    /// The time over which differences are averaged, in samples: 1 s.
    private static let memory: Double = 48_000

    /// Where the next samples belong by count; `nil` before the first ones.
    private var next: Int64?
    /// The mean of measured minus counted positions, in samples.
    private var difference = 0.0
    private var correction = 0

    package init() {}

    /// Places captured samples.
    ///
    /// - Parameters:
    ///   - count: How many were captured.
    ///   - instant: When the first one was captured, in monotonic ns.
    package mutating func place(count: Int, at instant: UInt64) -> Placement {
        let measured = SoundSamples.position(at: instant)
        guard let next, abs(Double(measured - next)) <= Self.longestDifference else { return jump(to: measured) }
        let weight = min(1, Double(count) / Self.memory)
        difference += (Double(measured - next) - difference) * weight
        if abs(difference) > Self.tolerance {
            correction = difference > 0 ? Self.correction : -Self.correction
        } else if difference.sign != Double(correction).sign {
            correction = 0
        }
        return Placement(position: next, jumps: false, correction: correction)
    }

    /// Records how many samples the placed ones became.
    package mutating func took(_ count: Int) {
        guard let next else { return }
        self.next = next + Int64(count)
    }

    /// Moves the count, because another agent has counted otherwise.
    package mutating func shift(by samples: Int64) { next = next.map { $0 + samples } }

    /// Forgets where the sound was, because it has stopped.
    package mutating func stop() { next = nil }

    private mutating func jump(to measured: Int64) -> Placement {
        let position = (measured + SoundSamples.step - 1) / SoundSamples.step * SoundSamples.step
        (next, difference, correction) = (position, 0, 0)
        return Placement(position: position, jumps: true, correction: 0)
    }
}
