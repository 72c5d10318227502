import Relay

/// The table of docs/reference/metrics.md.
enum MetricReference {
    static let table: String = {
        let rows = RelayMetrics.families.map { family in
            let labels = family.labels.map { "`\($0)`" }.joined(separator: ", ")
            return ["`\(family.name)`", family.kind.rawValue, unit(of: family), labels, family.help]
        }
        let divider = "|---|---|---|---|---|\n"
        return row(["metric", "type", "unit", "labels", "meaning"]) + divider + rows.map(row).joined()
    }()

    /// The unit that the end of a metric's name says; empty for counts and for states.
    private static func unit(of family: MetricFamily) -> String {
        let name = family.name
        if name.hasSuffix("_timestamp_seconds") { return "s since 1970" }
        if name.hasSuffix("_seconds") { return "s" }
        return name.hasSuffix("_bytes") || name.hasSuffix("_bytes_total") ? "bytes" : ""
    }

    private static func row(_ cells: [String]) -> String {
        "|" + cells.map { $0.isEmpty ? " |" : " \($0) |" }.joined() + "\n"
    }
}
