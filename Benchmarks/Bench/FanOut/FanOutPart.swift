import ArgumentParser
import Foundation
import TestSupport

/// Measures many viewers of one session.
struct FanOutPart: Part {
    static let name = "fanout"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract:
            "The relay's delay with many viewers beside a plain C loop that writes the same bytes, and nginx beside both.",
        discussion: "30 pictures a second at 600 kbit/s and at 2 Mbit/s, 1 to 1,500 viewers, by FanOut load."
    )

    static let counts = [1, 100, 500, 1000, 1500]
    static let rates = [600, 2000]

    @OptionGroup var options: Options

    static func measure(_ options: Options) async throws {
        let store = try Store(name, in: options.resultsFolder)
        let workloads = rates.flatMap { rate in counts.map { (rate, $0, "\(rate)kbit-\($0)") } }
        for (rate, count, workload) in workloads where options.wants(workload, among: workloads.map(\.2)) {
            for round in 1...options.rounds {
                try await store.measure(workload, "heliograph", round) {
                    let outcome = try Programs.run(
                        Programs.product("Bench"),
                        [
                            "load", "--json", "--viewers", "\(count)", "--silent", "0", "--slow", "0", "--bitrate",
                            "\(rate)", "--rounds", "1",
                            "--seconds", "\(options.seconds)",
                        ]
                    )
                    guard outcome.status == 0 else { throw BenchError(description: outcome.errors) }
                    return try JSONDecoder().decode([String: Double].self, from: Data(outcome.output.utf8))
                }
                try await store.measure(workload, "nginx", round) {
                    let nginx = try await Nginx(kilobits: rate)
                    defer { nginx.end() }
                    return try await nginx.measure(viewers: count, seconds: options.seconds)
                }
            }
        }
    }
}
