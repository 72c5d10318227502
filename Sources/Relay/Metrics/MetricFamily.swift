package import Media

/// One metric in Prometheus' text format, version 0.0.4.
package struct MetricFamily: Sendable {
    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    private struct Sample {
        var suffix = ""
        /// The labels' values.
        let values: [String]
        /// The upper bound of a histogram's bucket.
        var bound: String?
        let value: Double
    }

    package let name: String
    package let kind: Kind
    /// The names of the labels. Samples have a value for each, in this order.
    package let labels: [String]
    /// One sentence. docs/reference/metrics.md has it as well.
    package let help: String
    private var samples: [Sample] = []

    /// - Parameter labels: The names of the labels that each sample has a value for.
    package init(_ name: String, _ kind: Kind, by labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
    }

    /// Adds a sample of a counter or gauge.
    ///
    ///     var links = MetricFamily("heliograph_links_total", .counter, by: ["device", "role"], "Links accepted.")
    ///     links.add(3, ["left", "primary"])
    ///
    /// - Parameter values: The labels' values, in the order of ``labels``.
    package mutating func add(_ value: Double, _ values: [String] = []) {
        samples.append(Sample(values: values, value: value))
    }

    /// Adds all samples of a histogram, in seconds.
    package mutating func add(_ histogram: LatencyHistogram, _ values: [String] = []) {
        add(
            bounds: LatencyHistogram.bounds.map { Double($0) / 1e9 },
            cumulativeCounts: histogram.cumulativeCounts,
            sum: Double(histogram.sum) / 1e9,
            values
        )
    }

    /// Adds all samples of a histogram, in seconds.
    mutating func add(_ histogram: GapHistogram, _ values: [String] = []) {
        add(
            bounds: GapHistogram.bounds.map(\.seconds),
            cumulativeCounts: histogram.cumulativeCounts,
            sum: histogram.sum.seconds,
            values
        )
    }

    /// Adds all samples of a histogram.
    ///
    /// - Parameter cumulativeCounts: One count for each bound, and the count of all.
    private mutating func add(bounds: [Double], cumulativeCounts: [UInt64], sum: Double, _ values: [String]) {
        for (bound, count) in zip(bounds.map(Self.text(of:)) + ["+Inf"], cumulativeCounts) {
            samples.append(Sample(suffix: "_bucket", values: values, bound: bound, value: Double(count)))
        }
        samples.append(Sample(suffix: "_sum", values: values, value: sum))
        samples.append(Sample(suffix: "_count", values: values, value: Double(cumulativeCounts.last ?? 0)))
    }

    /// HELP and TYPE, then a line per sample; empty without samples.
    package var text: String {
        guard !samples.isEmpty else { return "" }
        var text = "# HELP \(name) \(Self.escaped(help))\n# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples {
            var labels = zip(self.labels, sample.values).map { "\($0)=\"\(Self.escaped($1, quotes: true))\"" }
            if let bound = sample.bound { labels.append("le=\"\(bound)\"") }
            text += name + sample.suffix + (labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}")
            text += " \(Self.text(of: sample.value))\n"
        }
        return text
    }

    private static func text(of value: Double) -> String { Int(exactly: value).map(String.init) ?? "\(value)" }

    private static func escaped(_ text: String, quotes: Bool = false) -> String {
        guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x0A || $0 == 0x22 }) else { return text }
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
