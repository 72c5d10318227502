package import Media

/// One metric in Prometheus' text format, version 0.0.4.
package struct MetricFamily: Sendable {
    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    package typealias Labels = [(name: String, value: String)]

    private let name: String
    private let help: String
    private let kind: Kind
    private var samples: [(suffix: String, labels: Labels, value: Double)] = []

    package init(_ name: String, _ kind: Kind, _ help: String) {
        self.name = name
        self.kind = kind
        self.help = help
    }

    /// Adds a sample of a counter or gauge.
    package mutating func add(_ value: Double, _ labels: Labels = []) { samples.append(("", labels, value)) }

    /// Adds all samples of a histogram, in seconds.
    package mutating func add(_ histogram: LatencyHistogram, _ labels: Labels = []) {
        add(
            bounds: LatencyHistogram.bounds.map { Double($0) / 1e9 },
            cumulativeCounts: histogram.cumulativeCounts,
            sum: Double(histogram.sum) / 1e9,
            labels
        )
    }

    /// Adds all samples of a histogram, in seconds.
    mutating func add(_ histogram: GapHistogram, _ labels: Labels = []) {
        add(
            bounds: GapHistogram.bounds.map(\.seconds),
            cumulativeCounts: histogram.cumulativeCounts,
            sum: histogram.sum.seconds,
            labels
        )
    }

    /// - Parameter cumulativeCounts: One for every bound, and the count of all.
    private mutating func add(bounds: [Double], cumulativeCounts: [UInt64], sum: Double, _ labels: Labels) {
        for (bound, count) in zip(bounds.map(Self.text(of:)) + ["+Inf"], cumulativeCounts) {
            samples.append(("_bucket", labels + [("le", bound)], Double(count)))
        }
        samples.append(("_sum", labels, sum))
        samples.append(("_count", labels, Double(cumulativeCounts.last ?? 0)))
    }

    /// HELP and TYPE, then a line per sample; empty without samples.
    package var text: String {
        guard !samples.isEmpty else { return "" }
        var text = "# HELP \(name) \(Self.escaped(help))\n# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples {
            let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
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
