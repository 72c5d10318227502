import Foundation

/// Measurements of one thing.
struct Samples {
    private(set) var values: [Double] = []

    mutating func append(_ value: Double) { values.append(value) }

    /// The value below which that part of the samples lies, 0 to 1. There has to be one.
    func quantile(_ part: Double) -> Double {
        let sorted = values.sorted()
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
    }

    var median: Double { quantile(0.5) }

    /// Median, and the least and the greatest.
    var summary: String {
        String(format: "%8.3f  (%.3f to %.3f)", median, values.min() ?? 0, values.max() ?? 0)
    }
}
