import Foundation
import TestSupport

/// Writes tables into docs/design/performance.md, between the marks of each part that has results, and charts into
/// docs/images.
struct Report {
    let results: URL

    private static let document = Programs.repository.appendingPathComponent("docs/design/performance.md")
    private static let images = Programs.repository.appendingPathComponent("docs/images")

    func write() throws {
        var text = try String(contentsOf: Self.document, encoding: .utf8)
        let parts: [(String, (Figures) throws -> [String])] = [
            (CPUPart.name, cpu), (LatencyPart.name, latency), (AgentPart.name, agent), (SessionsPart.name, sessions),
            (FanOutPart.name, fanOut), (StartPart.name, plain), (MemoryPart.name, plain), (SizePart.name, plain),
            (WaitsPart.name, plain),
        ]
        for (name, write) in parts {
            guard let figures = try Figures(name, in: results) else { continue }
            let lines = [machine(figures.machine, figures.rounds), ""] + (try write(figures))
            text = try replace(name, in: text, by: lines.joined(separator: "\n"))
        }
        try text.write(to: Self.document, atomically: true, encoding: .utf8)
        log("docs/design/performance.md is written")
    }

    private func replace(_ part: String, in text: String, by figures: String) throws -> String {
        let (begin, end) = ("<!-- figures: \(part) -->", "<!-- end of figures: \(part) -->")
        guard let first = text.range(of: begin), let last = text.range(of: end), first.upperBound <= last.lowerBound
        else {
            throw BenchError(description: "docs/design/performance.md has no marks for \(part)")
        }
        return text.replacingCharacters(in: first.upperBound..<last.lowerBound, with: "\n\(figures)\n")
    }

    private func machine(_ machine: Machine, _ rounds: Int) -> String {
        let versions = machine.versions.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(
            separator: ", "
        )
        return """
            \(machine.cores) cores of \(machine.processor), Linux \(machine.kernel), \(machine.system); begun \(machine.date), commit \(machine.commit); \(rounds) \
            rounds. Median (least to greatest).

            <details><summary>versions</summary>\(versions)</details>
            """
    }

    private func table(_ columns: [String], _ rows: [[String]]) -> [String] {
        ([columns, columns.map { _ in "---" }] + rows).map { "| \($0.joined(separator: " | ")) |" } + [""]
    }

    private func save(_ chart: Chart, as name: String) throws -> [String] {
        try chart.svg().write(to: Self.images.appendingPathComponent("\(name).svg"), atomically: true, encoding: .utf8)
        return ["![\(chart.title)](images/\(name).svg)", ""]
    }

    // MARK: - CPU

    /// CPU time is given per picture if all contenders make one picture per step, otherwise per second.
    private static func unit(of workload: String) -> String {
        workload.hasSuffix("scroll") || workload.hasSuffix("motion") ? "cpu ms/picture" : "cpu ms/s"
    }

    private func cpu(_ figures: Figures) throws -> [String] {
        var lines: [String] = []
        let contenders = Contender.allCases.map(\.rawValue).filter(figures.contenders.contains)
        for workload in figures.workloads {
            lines += ["**\(workload)**", ""]
            lines += table(
                ["", Self.unit(of: workload), "pictures/s", "changes/s", "PSNR dB", "kbit/s", "compositor, ms/s"],
                contenders.filter { !figures.values(workload, $0, "cpu ms/s").values.isEmpty }.map { contender in
                    [contender]
                        + [Self.unit(of: workload), "pictures/s", "changes/s", "psnr dB", "kbit/s", "desktop cpu ms/s"]
                        .map { name in
                            name == Self.unit(of: workload)
                                ? figures.cell(workload, contender, name)
                                : Samples.number(figures.values(workload, contender, name).median)
                        }
                }
            )
        }
        lines += ["**Heliograph by process**, CPU ms/s", ""]
        lines += table(
            ["", "relay", "agent", "standby"],
            figures.workloads.map { workload in
                [workload]
                    + ["relay", "agent", "standby"].map { figures.cell(workload, "heliograph", "\($0) cpu ms/s") }
            }
        )
        lines += ["**Heliograph to the others**, by round", ""]
        lines += table(
            ["", "to the limit loop", "to the best peer that keeps the rate", "that peer"],
            figures.workloads.map { workload in
                let best = bestPeer(figures, workload)
                let unit = Self.unit(of: workload)
                return [
                    workload, figures.ratios(workload, unit, of: "heliograph", to: "limit").cell,
                    best.map { figures.ratios(workload, unit, of: "heliograph", to: $0).cell } ?? "–", best ?? "none",
                ]
            }
        )
        for (unit, scenes, name) in [
            ("cpu ms/picture", ["scroll", "motion"], "performance-cpu-moving"),
            ("cpu ms/s", ["still", "typing"], "performance-cpu-still"),
        ] {
            let workloads = figures.workloads.filter { workload in scenes.contains { workload.hasSuffix($0) } }
            guard !workloads.isEmpty else { continue }
            let chart = Chart(
                title: "CPU, \(scenes.joined(separator: " and "))",
                unit: unit,
                groups: workloads.map {
                    $0.replacingOccurrences(of: "1280x", with: "").replacingOccurrences(of: "1920x", with: "")
                },
                series: contenders.map { series(figures, $0, workloads, unit) }
            )
            lines += try save(chart, as: name)
        }
        return lines + commands()
    }

    /// The peer with the least CPU time among those that show as many changes as Heliograph and, on a static screen,
    /// keep the frame rate.
    private func bestPeer(_ figures: Figures, _ workload: String) -> String? {
        let unit = Self.unit(of: workload)
        let name = unit == "cpu ms/s" ? "pictures/s" : "changes/s"
        let goal = 0.97 * figures.values(workload, "heliograph", name).median
        return Contender.allCases.filter(\.isPeer).map(\.rawValue)
            .filter { figures.values(workload, $0, name).median >= goal }
            .min { figures.values(workload, $0, unit).median < figures.values(workload, $1, unit).median }
    }

    private func series(_ figures: Figures, _ contender: String, _ workloads: [String], _ name: String) -> Chart.Series
    {
        let samples = workloads.map { figures.values($0, contender, name) }
        return Chart.Series(
            name: contender,
            values: samples.map { $0.values.isEmpty ? nil : $0.median },
            spread: samples.map { $0.values.isEmpty ? nil : ($0.least, $0.greatest) }
        )
    }

    private func commands() -> [String] {
        ["Commands, at 1280x720 and 30 pictures a second:", ""]
            + Contender.allCases.filter(\.isPeer).map {
                let command = $0.command(Workload(seconds: 1), port: "PORT", portalExec: "portal-exec", display: ":N")
                return "    \(command.joined(separator: " "))"
            }
    }

    // MARK: - Latency

    private func latency(_ figures: Figures) throws -> [String] {
        let contenders = Contender.allCases.map(\.rawValue).filter(figures.contenders.contains)
        var lines: [String] = []
        for workload in figures.workloads {
            lines += ["**\(workload)**, ms", ""]
            lines += table(
                ["", "p50", "p99", "of it decoding, p50", "changes/s"],
                contenders.map { contender in
                    [contender]
                        + ["latency p50 ms", "latency p99 ms", "decode p50 ms", "changes/s"].map {
                            figures.cell(workload, contender, $0)
                        }
                }
            )
            lines += table(
                ["Heliograph by stage, medians", "ms"],
                [
                    ("drawn, to the frame's instant of capture", "stage delivery ms"),
                    ("to the end of its encoding", "stage encoded ms"),
                    ("of it the encoder, mean", "encode mean ms"), ("to the relay", "stage link ms"),
                    ("to the last byte at a viewer on a WebSocket", "stage viewer ms"),
                ].map { [$0.0, figures.cell(workload, "heliograph", $0.1)] }
            )
        }
        let workloads = figures.workloads
        let chart = Chart(
            title: "From the drawing to the decoded picture, p50, and p99 beside it",
            unit: "ms",
            groups: workloads.flatMap { ["\($0) p50", "\($0) p99"] },
            series: contenders.map { contender in
                let both = workloads.flatMap { workload in
                    ["latency p50 ms", "latency p99 ms"].map { figures.values(workload, contender, $0) }
                }
                return Chart.Series(
                    name: contender,
                    values: both.map { $0.values.isEmpty ? nil : $0.median },
                    spread: both.map { $0.values.isEmpty ? nil : ($0.least, $0.greatest) }
                )
            }
        )
        return lines + (try save(chart, as: "performance-latency"))
    }

    // MARK: - The others

    private func agent(_ figures: Figures) -> [String] {
        plain(figures)
            + table(
                ["ratio, by round", ""],
                [
                    [
                        "moving: agent / limit loop",
                        figures.ratios("moving", "cpu ms/picture", of: "agent", to: "limit").cell,
                    ],
                    [
                        "still: agent / the loop that encodes",
                        figures.ratios("still", "cpu ms/s", of: "agent", to: "limit-encoding").cell,
                    ],
                ]
            )
    }

    private func sessions(_ figures: Figures) throws -> [String] {
        var lines = table(
            [
                "sessions", "hold 30 ± 1 %", "least, pictures/s", "agent, CPU ms/s", "relay, CPU ms/s", "agent, MiB",
                "relay, MiB",
            ],
            figures.workloads.map { workload in
                func median(_ name: String) -> Double { figures.values(workload, "heliograph", name).median }
                return [
                    workload, "\(Samples.number(100 * median("held"))) %",
                    figures.cell(workload, "heliograph", "least pictures/s"),
                    figures.cell(workload, "heliograph", "agent cpu ms/s"),
                    figures.cell(workload, "heliograph", "relay cpu ms/s"),
                    Samples.number(median("agent KiB") / 1024), Samples.number(median("relay KiB") / 1024),
                ]
            }
        )
        for kind in ["still", "moving"] {
            let workloads = figures.workloads.filter { $0.hasPrefix(kind) }
            guard !workloads.isEmpty else { continue }
            lines += try save(
                Chart(
                    title: "CPU of \(kind) sessions, 1280x720 at 30",
                    unit: "ms/s",
                    groups: workloads.map { String($0.dropFirst(kind.count + 1)) },
                    series: ["agent cpu ms/s", "relay cpu ms/s"].map { name in
                        var one = series(figures, "heliograph", workloads, name)
                        one.name = name
                        return one
                    },
                    kind: .lines
                ),
                as: "performance-sessions-\(kind)"
            )
        }
        return lines
    }

    private func fanOut(_ figures: Figures) throws -> [String] {
        func cells(_ workload: String, _ names: [String]) -> [String] {
            names.map { figures.cell(workload, "heliograph", $0) }
        }
        func ratio(_ workload: String) -> String {
            Samples(
                figures.samples.filter { $0.workload == workload }.compactMap { sample in
                    guard let relay = sample.values["relay p99 ms"], let loop = sample.values["loop p99 ms"] else {
                        return nil
                    }
                    return relay / loop
                }
            ).cell
        }
        var lines = table(
            [
                "viewers", "relay p50, ms", "relay p99, ms", "loop p50, ms", "loop p99, ms", "p99, relay / loop",
                "relay, CPU ms/s",
                "nginx, CPU ms/s", "incomplete",
            ],
            figures.workloads.map { workload in
                [workload] + cells(workload, ["relay p50 ms", "relay p99 ms", "loop p50 ms", "loop p99 ms"]) + [
                    ratio(workload)
                ]
                    + cells(workload, ["relay cpu ms/s"]) + [figures.cell(workload, "nginx", "cpu ms/s")]
                    + cells(workload, ["relay incomplete viewers"])
            }
        )
        for rate in FanOutPart.rates {
            let workloads = figures.workloads.filter { $0.hasPrefix("\(rate)kbit-") }
            guard !workloads.isEmpty else { continue }
            let names = [
                ("relay p50 ms", "relay p50"), ("relay p99 ms", "relay p99"), ("loop p50 ms", "loop p50"),
                ("loop p99 ms", "loop p99"),
            ]
            lines += try save(
                Chart(
                    title: "Delay with many viewers, 30 pictures a second at \(rate) kbit/s",
                    unit: "ms",
                    groups: workloads.map { String($0.split(separator: "-")[1]) },
                    series: names.map { name, label in
                        var one = series(figures, "heliograph", workloads, name)
                        one.name = label
                        return one
                    },
                    kind: .lines
                ),
                as: "performance-fanout-\(rate)"
            )
        }
        return lines
    }

    /// All that was measured, name by name.
    private func plain(_ figures: Figures) -> [String] {
        let rows = figures.workloads.flatMap { workload in
            figures.contenders.flatMap { contender in
                let names = Set(
                    figures.samples.filter { $0.workload == workload && $0.contender == contender }.flatMap(
                        \.values.keys
                    )
                )
                return names.sorted().map { [workload, contender, $0, figures.cell(workload, contender, $0)] }
            }
        }
        return table(["", "", "", ""], rows)
    }
}
