import Foundation
import Synchronization
import TestSupport

/// The results of a run.
final class Report: Sendable {
    private struct State {
        var order: [String] = []
        var episodes: [String: [Episode]] = [:]
        var lines: [String] = []
        var leftOut: [String] = []
        var rigs = 1
        var crashes = 0
    }

    /// The arguments of the run.
    private let title: String
    private let begin = monotonicNow()
    private let loadBefore = Report.load
    private let state = Mutex(State())

    init(title: String) { self.title = title }

    /// Since the beginning.
    var seconds: Int { Int((monotonicNow() - begin) / 1_000_000_000) }

    func add(_ episode: Episode) {
        state.withLock { state in
            if state.episodes[episode.fault] == nil { state.order.append(episode.fault) }
            state.episodes[episode.fault, default: []].append(episode)
        }
    }

    /// Notes that a fault was not run, and why.
    func leaveOut(_ what: String) { state.withLock { $0.leftOut.append(what) } }

    /// Adds a note below the table.
    func add(lines: [String]) { state.withLock { $0.lines += lines } }

    /// Notes that the desktop and its relay did not recover and were replaced.
    func addRig() { state.withLock { $0.rigs += 1 } }

    /// Parts of the desktop that crashed without being killed.
    func add(crashes: Int) { state.withLock { $0.crashes += crashes } }

    private var all: [Episode] { state.withLock { state in state.order.flatMap { state.episodes[$0] ?? [] } } }

    /// Whether everything was done, no viewer saw a broken picture or a broken connection, and all recovered.
    var isGood: Bool {
        let runs = all
        return !runs.isEmpty && state.withLock { $0.leftOut.isEmpty } && runs.allSatisfy(\.isGood)
    }

    private static var load: String {
        let text = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? ""
        return text.split(separator: " ").prefix(3).joined(separator: ", ")
    }

    /// The whole report.
    var text: String {
        let state = state.withLock { $0 }
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let head =
            "\(title). \(seconds) s on \(cores) cores; load before \(loadBefore), after \(Self.load). "
            + (isGood ? "Good." : "**Not good.**")
        let leftOut = state.leftOut.isEmpty ? [] : ["", "**Left out:** \(state.leftOut.joined(separator: "; "))."]
        let rigs =
            state.rigs > 1 ? ["", "**Desktops with their relays that did not recover: \(state.rigs - 1).**"] : []
        let crashes = ["", "Parts of the desktop that crashed unasked: \(state.crashes)."]
        return ([head, "", markdown] + state.lines + leftOut + rigs + crashes).joined(separator: "\n") + "\n"
    }

    private var markdown: String {
        let (order, episodes) = state.withLock { ($0.order, $0.episodes) }
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
        func sum(_ figure: (Episode) -> Int) -> Int { runs.reduce(0) { $0 + figure($1) } }
        return "\n\(runs.count) faults; decode errors \(sum(\.decodeErrors)), reconnects "
            + "\(sum { max(0, $0.reconnects - $0.relayKills) }) (\(sum(\.relayKills)) for killed relays aside), "
            + "slots missed \(sum(\.missedOnReturn)) in \(sum(\.returns)) returns, "
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
