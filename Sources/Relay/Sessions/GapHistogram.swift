import Media
package import NIOCore

/// How often viewers had no picture for how long, when another agent took over.
package struct GapHistogram: Sendable, Equatable {
    /// The buckets' upper bounds, inclusive. What is longer falls into one more bucket.
    package static let bounds: [TimeAmount] = [
        33, 50, 100, 200, 500, 1_000, 1_500, 2_000, 5_000, 10_000, 30_000,
    ].map(TimeAmount.milliseconds)

    private var counts = [UInt64](repeating: 0, count: bounds.count + 1)
    /// All gaps together.
    package private(set) var sum = TimeAmount.zero

    package init() {}

    package mutating func add(_ gap: TimeAmount) {
        counts[at: Self.bounds.firstIndex { gap <= $0 } ?? Self.bounds.count]? += 1
        sum = sum + gap
    }

    /// How many were at most as long as each bound; the last element counts all.
    package var cumulativeCounts: [UInt64] {
        var total: UInt64 = 0
        return counts.map { count in
            total += count
            return total
        }
    }
}
