package import Pacing
import TestSupport

/// How long encodes take and what becomes of them, at random.
package struct SimulatedEncoder {
    /// ns.
    private let time: ClosedRange<UInt64>
    private let hiccup: ClosedRange<UInt64>
    private let hiccups: Double
    private let failures: Double
    private var generator: SeededGenerator

    /// - Parameters:
    ///   - time: How long an encode takes, ns.
    ///   - hiccup: How long one takes now and then, ns.
    ///   - hiccups: Part of the encodes that take as long as `hiccup`, 0 to 1.
    ///   - failures: Part of the encodes that make no picture, 0 to 1.
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
    /// Any number of the range; draws none where there is only one.
    func randomElement(using generator: inout SeededGenerator) -> UInt64 {
        lowerBound == upperBound ? lowerBound : .random(in: self, using: &generator)
    }
}
