import Foundation
import Media
import Testing

@Suite("Latency histogram")
struct LatencyHistogramTests {
    @Test("a bound belongs to its bucket, and what is longer than all has its own")
    func buckets() {
        for (index, bound) in LatencyHistogram.bounds.enumerated() {
            var histogram = LatencyHistogram()
            histogram.add(bound)
            histogram.add(bound + 1)
            #expect(histogram.counts[index] == 1 && histogram.counts[index + 1] == 1)
            #expect(histogram.count == 2 && histogram.sum == 2 * bound + 1)
        }
        #expect(LatencyHistogram.bounds == LatencyHistogram.bounds.sorted())
    }

    @Test("cumulative counts never fall and end with all; any numbers are taken without overflow")
    func cumulativeCounts() throws {
        var histogram = LatencyHistogram()
        for time in [400_000, 400_000, 5_000_000, 5_000_000_000] as [UInt64] { histogram.add(time) }
        #expect(histogram.cumulativeCounts.first == 2 && histogram.cumulativeCounts.last == 4)
        #expect(histogram.cumulativeCounts == histogram.cumulativeCounts.sorted())
        let largest = histogram.counts.map { _ in UInt64.max }
        var full = try #require(LatencyHistogram(counts: largest, sum: .max - 1))
        #expect(full.count == .max && Set(full.cumulativeCounts) == [.max])
        full = try #require(LatencyHistogram(counts: histogram.counts, sum: .max - 1))
        full.add(5)
        #expect(full.sum == .max)
    }

    @Test("another number of buckets is refused")
    func decoding() throws {
        var histogram = LatencyHistogram()
        histogram.add(7)
        let text = try JSONEncoder().encode(histogram)
        #expect(try JSONDecoder().decode(LatencyHistogram.self, from: text) == histogram)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(LatencyHistogram.self, from: Data(#"{"counts":[1,2],"sum":0}"#.utf8))
        }
    }
}
