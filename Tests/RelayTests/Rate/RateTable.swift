import HeliographAPI

/// The table of docs/design/reports/rate.md: what simulated viewers of adaptive sessions see.
enum RateTable {
    /// One row: a link, or two, for 45 s.
    struct Scenario: Sendable, CustomStringConvertible {
        let description: String
        let links: [RateSimulation.Link]
        var adapt = Adaptation.followSlowest
        var isStatic: @Sendable (Double) -> Bool = { _ in false }
    }

    static let seconds = 45

    static let step: @Sendable (Double) -> Double = { $0 < 10 || $0 >= 30 ? 20e6 : 2e6 }
    private static let wide: @Sendable (Double) -> Double = { _ in 20e6 }

    static let scenarios = [
        Scenario(description: "always 20", links: [.init(rate: wide)]),
        Scenario(description: "step", links: [.init(rate: step)]),
        Scenario(description: "step, buffer of 500 kB", links: [.init(rate: step, buffer: 500_000)]),
        Scenario(
            description: "step, loss each 1.5 s, 80 ms",
            links: [.init(rate: step, delay: 40, lossInterval: 1500)]
        ),
        Scenario(description: "step, 200 ms", links: [.init(rate: step, delay: 100)]),
        Scenario(
            description: "step, nothing for 200 ms each 5 s",
            links: [.init(rate: { $0.truncatingRemainder(dividingBy: 5) < 0.2 ? 0 : step($0) }, buffer: 200_000)]
        ),
        Scenario(description: "always 0.8", links: [.init(rate: { _ in 0.8e6 })]),
        Scenario(description: "3 and 1 in turn", links: [.init(rate: { Int($0 * 2) % 2 == 0 ? 3e6 : 1e6 })]),
        Scenario(description: "always 2, static from 12 to 28 s", links: [.init(rate: { _ in 2e6 })]) {
            (12..<28).contains($0)
        },
        Scenario(description: "step, beside 20: slowest", links: [.init(rate: step), .init(rate: wide)]),
        Scenario(
            description: "step, beside 20: fastest",
            links: [.init(rate: step), .init(rate: wide)],
            adapt: .followFastest
        ),
    ]

    static func run(_ scenario: Scenario) -> RateSimulation {
        var simulation = RateSimulation(scenario.links, adapt: scenario.adapt)
        simulation.run(seconds: seconds, isStatic: scenario.isStatic)
        return simulation
    }

    /// The latency that a share of a viewer's pictures does not exceed, in ms; `nil` if none came in the time, in s.
    static func latency(_ outcome: RateSimulation.Outcome, _ share: Double, in time: Range<Int>) -> Int? {
        let times = outcome.arrivals.filter { time.contains($0.at / 1000) }.map(\.latency).sorted()
        return times.isEmpty ? nil : times[min(times.count - 1, Int(Double(times.count) * share))]
    }

    /// The Mbit/s that came in a time, in s.
    static func carried(_ outcome: RateSimulation.Outcome, in time: Range<Int>) -> Double {
        let bytes = outcome.arrivals.filter { time.contains($0.at / 1000) }.reduce(0) { $0 + $1.size }
        return Double(bytes) * 8 / 1e6 / Double(time.count)
    }

    static func markdown() -> String {
        var lines = [
            "| Mbit/s | viewer | p95 before | p95 of 10 to 13 s | p95 of 13 to 30 s | p95 after | pictures a second "
                + "| Mbit/s of 13 to 30 s | up after | resyncs |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        for scenario in scenarios {
            let simulation = run(scenario)
            let up = simulation.settings.first { $0.at >= 30_000 && $0.1.bitrate == 6_000_000 }.map { $0.at - 30_000 }
            for (number, outcome) in simulation.outcomes.enumerated() {
                let latencies = [0..<10, 10..<13, 13..<30, 30..<45].map { time in
                    latency(outcome, 0.95, in: time).map { "\($0) ms" } ?? "none"
                }
                let mean = Int(carried(outcome, in: 13..<30) * 100)
                let rate = outcome.arrivals.count * 10 / seconds
                let cells =
                    [scenario.description, "\(number + 1)"] + latencies + [
                        "\(rate / 10).\(rate % 10)", "\(mean / 100).\(mean % 100 / 10)\(mean % 10)",
                        up.map { "\($0 / 1000).\($0 % 1000 / 100) s" } ?? "never", "\(outcome.resyncs)",
                    ]
                lines.append("| \(cells.joined(separator: " | ")) |")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
