package import Pacing
import TestSupport

/// A random encoder: how long encodes take, and whether they succeed.
package struct SimulatedEncoder {
    /// How long the encode takes, in ns.
    private let time: ClosedRange<UInt64>
    private let hiccup: ClosedRange<UInt64>
    private let hiccups: Double
    private let failures: Double
    private var generator: SeededGenerator

    /// - Parameters:
    ///   - time: How long an encode takes, in ns.
    ///   - hiccup: How long an occasional slow encode takes, in ns.
    ///   - hiccups: The share of encodes that take as long as `hiccup`, 0 to 1.
    ///   - failures: The share of encodes that fail, 0 to 1.
    package init(
        time: ClosedRange<UInt64>,
        hiccup: ClosedRange<UInt64> = 0...0,
        hiccups: Double = 0,
        failures: Double = 0,
        seed: UInt64 = 0
    ) {
        self.time = time
        self.hiccup = hiccup
        self.hiccups = hiccups
        self.failures = failures
        generator = SeededGenerator(seed: seed)
    }

    package mutating func encode() -> (time: UInt64, outcome: PictureOutcome) {
        let isHiccup = hiccups > 0 && Double.random(in: 0..<1, using: &generator) < hiccups
        let time = (isHiccup ? hiccup : time).randomElement(using: &generator)
        guard failures > 0, Double.random(in: 0..<1, using: &generator) < failures else {
            return (time, .encoded(byteCount: 1, isKeyframe: false))
        }
        return (time, Bool.random(using: &generator) ? .failed : .poolDrop)
    }
}

extension ClosedRange<UInt64> {
    /// Returns a random number in the range, without drawing one if there is only one.
    func randomElement(using generator: inout SeededGenerator) -> UInt64 {
        lowerBound == upperBound ? lowerBound : .random(in: self, using: &generator)
    }
}
