import Media
package import NIOCore

/// A histogram of how long viewers had no picture when another agent took over.
package struct GapHistogram: Sendable, Equatable {
    /// The buckets' upper bounds, inclusive. One more bucket holds longer gaps.
    package static let bounds: [TimeAmount] = [
        33, 50, 100, 200, 500, 1_000, 1_500, 2_000, 5_000, 10_000, 30_000,
    ].map(TimeAmount.milliseconds)

    private var counts = [UInt64](repeating: 0, count: bounds.count + 1)
    /// The sum of all gaps.
    package private(set) var sum = TimeAmount.zero

    package init() {}

    package mutating func add(_ gap: TimeAmount) {
        counts[at: Self.bounds.firstIndex { gap <= $0 } ?? Self.bounds.count]? += 1
        sum = sum + gap
    }

    /// The number of gaps up to each bound; the last element counts all gaps.
    package var cumulativeCounts: [UInt64] {
        var total: UInt64 = 0
        return counts.map { count in
            total += count
            return total
        }
    }
}
