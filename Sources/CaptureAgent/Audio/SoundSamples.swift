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
    /// When the first sample was captured, in monotonic ns; `nil` for made ones. The clock that makes samples may
    /// differ from that which positions count by.
    package var captured: UInt64?
    /// Left and right in turn.
    package var values: [Float]

    package init(position: Int64, values: [Float], captured: UInt64? = nil) {
        self.position = position
        self.values = values
        self.captured = captured
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

    /// Returns the position of the sample that was captured at an instant, in monotonic ns; `nil` if it is not here.
    func position(capturedAt instant: UInt64) -> Int64? {
        guard let captured, count > 0 else { return nil }
        let index = ((Double(instant) - Double(captured)) * Double(Self.rate) / 1e9).rounded()
        return index >= 0 && index < Double(count) ? position + Int64(index) : nil
    }

    /// Returns when the sample at a position was captured, in monotonic ns; `nil` if it is not here.
    func captured(at place: Int64) -> UInt64? {
        guard let captured, place >= position, place < end else { return nil }
        return captured + UInt64(place - position) * 125_000 / 6
    }

    /// Removes samples at the start.
    package mutating func removeFirst(_ count: Int) {
        values.removeFirst(min(values.count, count * Self.channels))
        position += Int64(count)
        captured = captured.map { $0 + UInt64(count) * 125_000 / 6 }
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
