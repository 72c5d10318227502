import Glibc
import Media

/// Samples of stereo sound at 48 kHz that belong together.
package struct SoundSamples: Sendable, Equatable {
    /// Samples per second and channel.
    package static let rate = 48_000
    package static let channels = 2
    /// Positions are multiples of this, because 6 samples are exactly 125 µs.
    static let step: Int64 = 6

    /// The position of the first sample on the monotonic clock, in samples since its 0.
    package var position: Int64
    /// Left and right in turn.
    package var values: [Float]

    package init(position: Int64, values: [Float]) {
        self.position = position
        self.values = values
    }

    /// The number of samples of one channel.
    package var count: Int { values.count / Self.channels }

    /// The position after the last sample.
    package var end: Int64 { position + Int64(count) }

    /// How loud they are, both channels together.
    var level: SoundLevel {
        let energy = values.reduce(0) { $0 + Double($1) * Double($1) }
        return SoundLevel(decibels: 10 * log10(energy / Double(max(1, values.count))))
    }

    /// Removes samples at the start.
    package mutating func removeFirst(_ count: Int) {
        values.removeFirst(min(values.count, count * Self.channels))
        position += Int64(count)
    }

    /// Returns the position at an instant of the monotonic clock in ns.
    package static func position(at instant: UInt64) -> Int64 {
        Int64(instant / 125_000 * 6 + instant % 125_000 * 6 / 125_000)
    }

    /// Returns the instant of a position, in ns.
    package static func instant(at position: Int64) -> UInt64 {
        let position = UInt64(max(0, position))
        return position / 6 * 125_000 + position % 6 * 125_000 / 6
    }
}
