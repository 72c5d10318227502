import Foundation

/// The table of a run.
struct Report {
    private var order: [String] = []
    private var episodes: [String: [Episode]] = [:]

    mutating func add(_ episode: Episode) {
        if episodes[episode.fault] == nil { order.append(episode.fault) }
        episodes[episode.fault, default: []].append(episode)
    }

    private var all: [Episode] { order.flatMap { episodes[$0] ?? [] } }

    /// Whether a viewer saw a broken picture or a broken connection, or something did not come back.
    var isGood: Bool {
        all.allSatisfy {
            $0.failure == nil && $0.decodeErrors == 0 && ($0.reconnects == 0 || $0.fault.hasPrefix("relay"))
        }
    }

    var markdown: String {
        let head = [
            "| fault | runs | noticed after, ms | gap, ms | without news, ms | steady after, s | slots missed on return | decode errors | reconnects | left over: processes, descriptors, threads | relay's memory, KiB | feed switches |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|",
        ]
        let notes = all.filter { !$0.note.isEmpty }.map { "* \($0.fault): \($0.note)" }
        let failures = all.compactMap { episode in episode.failure.map { "* FAILED: \(episode.fault): \($0)" } }
        return
            (head + order.compactMap { name in episodes[name].map { row(name, $0) } } + [summary, ""] + notes + failures)
            .joined(separator: "\n")
    }

    private func row(_ name: String, _ runs: [Episode]) -> String {
        var causes: [String: Int] = [:]
        for run in runs { causes.merge(run.causes) { $0 + $1 } }
        let cells: [String] = [
            name, "\(runs.count)",
            runs.contains { $0.detection != nil } ? quantiles(runs.compactMap(\.detection)) : "–",
            quantiles(runs.map(\.gap)), quantiles(runs.map(\.standstill)),
            String(format: "%.1f", median(runs.map(\.recovery)) / 1000),
            "\(runs.reduce(0) { $0 + $1.missedOnReturn }) in \(runs.reduce(0) { $0 + $1.returns })",
            "\(runs.reduce(0) { $0 + $1.decodeErrors })", "\(runs.reduce(0) { $0 + $1.reconnects })",
            "\(most(runs.map(\.processes))), \(most(runs.map(\.descriptors))), \(most(runs.map(\.threads)))",
            "\(Int(median(runs.map { Double($0.memory) })))",
            causes.isEmpty
                ? "none" : causes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "),
        ]
        return "| " + cells.joined(separator: " | ") + " |"
    }

    private var summary: String {
        let runs = all
        return "\n\(runs.count) faults; decode errors \(runs.reduce(0) { $0 + $1.decodeErrors }), reconnects "
            + "\(runs.filter { !$0.fault.hasPrefix("relay") }.reduce(0) { $0 + $1.reconnects }) (relay kills aside), "
            + "failures \(runs.count { $0.failure != nil })."
    }

    /// Median, 95th percentile of five and more, greatest.
    private func quantiles(_ values: [Double]) -> String {
        let sorted = values.sorted()
        guard let greatest = sorted.last else { return "–" }
        guard sorted.count > 1 else { return String(format: "%.0f", greatest) }
        guard sorted.count >= 20 else { return String(format: "%.0f, at most %.0f", median(values), greatest) }
        let p95 = sorted[min(sorted.count - 1, Int((Double(sorted.count) * 0.95).rounded(.up)) - 1)]
        return String(format: "%.0f, p95 %.0f, at most %.0f", median(values), p95, greatest)
    }

    private func median(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.sorted()[values.count / 2] }

    private func most(_ values: [Int]) -> Int { values.max() ?? 0 }
}
