/// A histogram of durations, with fixed buckets from half a millisecond to a second.
package struct LatencyHistogram: Sendable, Equatable {
    /// The buckets' upper bounds, inclusive, in ns. One more bucket counts longer durations.
    package static let bounds: [UInt64] = [
        500_000, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 6_000_000, 8_000_000, 12_000_000, 16_000_000, 24_000_000,
        33_000_000, 50_000_000, 100_000_000, 250_000_000, 500_000_000, 1_000_000_000,
    ]

    /// The number of durations in each bucket: one for every bound, and a last one for longer durations.
    package private(set) var counts: [UInt64]
    /// The sum of all durations, in ns.
    package private(set) var sum: UInt64

    package init() {
        counts = Array(repeating: 0, count: Self.bounds.count &+ 1)
        sum = 0
    }

    /// - Parameter counts: As ``counts``. The initializer returns `nil` if it has another number of elements.
    package init?(counts: [UInt64], sum: UInt64) {
        guard counts.count == Self.bounds.count &+ 1 else { return nil }
        self.counts = counts
        self.sum = sum
    }

    package mutating func add(_ nanoseconds: UInt64) {
        let bucket = Self.bounds.firstIndex { nanoseconds <= $0 } ?? Self.bounds.count
        counts[at: bucket]? &+= 1
        sum = Self.saturatingSum(sum, nanoseconds)
    }

    /// The number of all durations. Saturates like ``cumulativeCounts``, because the relay adds up numbers that an
    /// agent sent.
    package var count: UInt64 { counts.reduce(0, Self.saturatingSum) }

    /// The number of durations up to each bound; the last element is ``count``.
    package var cumulativeCounts: [UInt64] {
        var total: UInt64 = 0
        return counts.map { count in
            total = Self.saturatingSum(total, count)
            return total
        }
    }

    private static func saturatingSum(_ one: UInt64, _ other: UInt64) -> UInt64 {
        let (sum, overflow) = one.addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

extension LatencyHistogram: Codable {
    private enum CodingKeys: CodingKey {
        case counts, sum
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let counts = try container.decode([UInt64].self, forKey: .counts)
        guard let histogram = Self(counts: counts, sum: try container.decode(UInt64.self, forKey: .sum)) else {
            throw DecodingError.dataCorruptedError(
                forKey: .counts,
                in: container,
                debugDescription: "\(counts.count) counts, \(Self.bounds.count &+ 1) expected"
            )
        }
        self = histogram
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(counts, forKey: .counts)
        try container.encode(sum, forKey: .sum)
    }
}
