package import Media
package import NIOCore

/// A latency since the session began, and in the last seconds.
package struct LatencyRecord: Sendable {
    package private(set) var histogram = LatencyHistogram()
    private var window = LatencyWindow()

    package init() {}

    package mutating func add(_ nanoseconds: UInt64, now: NIODeadline) {
        histogram.add(nanoseconds)
        window.add(nanoseconds, now: now)
    }

    /// Returns percentiles of the last 10 to 20 s; `nil` if there was no time.
    package func percentiles(now: NIODeadline) -> LatencyWindow.Percentiles? { window.percentiles(now: now) }
}

/// Percentiles of the times of the last 10 to 20 s, in a fixed amount of memory.
///
/// Times are counted in buckets: exact to 1 µs up to 16 µs, above that a sixteenth of a power of two wide. A percentile
/// is its bucket's upper bound, at most 6.25 % too high. Times above 16.7 s count as 16.7 s.
package struct LatencyWindow: Sendable {
    /// The median and the upper percentiles of times.
    package struct Percentiles: Sendable, Equatable {
        /// The number of times.
        package let count: Int
        /// The percentiles, ns.
        package let (p50, p95, p99): (UInt64, UInt64, UInt64)

        package static func == (one: Self, other: Self) -> Bool {
            (one.count, one.p50, one.p95, one.p99) == (other.count, other.p50, other.p95, other.p99)
        }
    }

    /// The times of one turn, by bucket.
    private struct Turn {
        var number: Int64
        var counts = [UInt32](repeating: 0, count: LatencyWindow.bucketCount)
    }

    /// How long a turn collects times before the other, older turn is discarded.
    private static let turnLength = TimeAmount.seconds(10)
    /// Buckets for each power of two, and the number of powers of two above the buckets of 1 µs.
    private static let (steps, powers) = (16, 20)
    private static let bucketCount = steps * (powers + 1)

    private var turns: [Turn] = []

    package init() {}

    package mutating func add(_ nanoseconds: UInt64, now: NIODeadline) {
        let number = Self.turn(at: now)
        if turns.last?.number != number {
            turns = turns.suffix(1) + [Turn(number: number)]
        }
        let bucket = Self.bucket(of: nanoseconds)
        turns[turns.count - 1].counts[bucket] &+= 1
    }

    /// Returns the percentiles; `nil` if there were no times.
    package func percentiles(now: NIODeadline) -> Percentiles? {
        let current = Self.turn(at: now)
        let counts = turns.filter { $0.number >= current - 1 }.map(\.counts)
        let total = counts.joined().reduce(0) { $0 + Int($1) }
        guard total > 0 else { return nil }
        func percentile(_ hundredths: Int) -> UInt64 {
            // The smallest bound that at least this many times are within.
            let rank = max(1, (total * hundredths + 99) / 100)
            var seen = 0
            for bucket in 0..<Self.bucketCount {
                seen += counts.reduce(0) { $0 + Int($1[bucket]) }
                if seen >= rank { return Self.upperBound(of: bucket) }
            }
            return Self.upperBound(of: Self.bucketCount - 1)
        }
        return Percentiles(count: total, p50: percentile(50), p95: percentile(95), p99: percentile(99))
    }

    private static func turn(at now: NIODeadline) -> Int64 {
        Int64(now.uptimeNanoseconds) / turnLength.nanoseconds
    }

    /// Returns the bucket of a time, which is rounded up to whole µs.
    private static func bucket(of nanoseconds: UInt64) -> Int {
        let microseconds = nanoseconds / 1000 + (nanoseconds % 1000 == 0 ? 0 : 1)
        // The first bucket holds times up to 1 µs, so subtract 1.
        let place = Int(clamping: microseconds &- (microseconds == 0 ? 0 : 1))
        guard place >= steps else { return place }
        // 0 for places 16 to 31, whose buckets are 1 µs wide.
        let power = (Int.bitWidth - 1 - place.leadingZeroBitCount) - 4
        guard power < powers else { return bucketCount - 1 }
        return steps * (power + 1) + (place >> power) - steps
    }

    /// Returns a bucket's upper bound, ns, inclusive.
    private static func upperBound(of bucket: Int) -> UInt64 {
        guard bucket >= steps else { return UInt64(bucket + 1) * 1000 }
        let (power, step) = (bucket / steps - 1, bucket % steps)
        return UInt64((steps + step + 1) << power) * 1000
    }
}
