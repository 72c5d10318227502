package import TestSupport

/// The arrival times of a source's frames, in ns, in order.
package enum Arrivals {
    /// Returns frames at a steady rate, each early or late by up to `jitter` ns.
    ///
    /// - Parameters:
    ///   - rate: Frames per second.
    ///   - start: The earliest possible arrival of the first frame, in ns.
    package static func steady(
        rate: UInt64,
        jitter: UInt64,
        start: UInt64,
        duration: UInt64,
        using generator: inout SeededGenerator
    ) -> [UInt64] {
        (0..<rate * duration / 1_000_000_000).map { number in
            start + number * 1_000_000_000 / rate + .random(in: 0...2 * jitter, using: &generator)
        }.sorted()
    }

    /// Returns every kind of activity: steady frames of any rate, pauses, bursts and single frames.
    package static func mixed(duration: UInt64, using generator: inout SeededGenerator) -> [UInt64] {
        var arrivals: [UInt64] = []
        var time: UInt64 = 0
        while time < duration {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: time += .random(in: 0...2_000_000_000, using: &generator)
            case 1:
                let count = Int.random(in: 2...30, using: &generator)
                arrivals += (0..<count).map { _ in time + .random(in: 0...5_000_000, using: &generator) }
                time += 5_000_000
            case 2:
                time += .random(in: 0...100_000_000, using: &generator)
                arrivals.append(time)
            default:
                let rate = UInt64.random(in: 1...250, using: &generator)
                let jitter = UInt64.random(in: 0...500_000_000 / rate, using: &generator)
                let length = UInt64.random(in: 0...2_000_000_000, using: &generator)
                arrivals += steady(rate: rate, jitter: jitter, start: time, duration: length, using: &generator)
                time += length
            }
        }
        return arrivals.sorted()
    }
}
