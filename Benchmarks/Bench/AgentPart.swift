import ArgumentParser
import TestSupport

/// The agent alone against the loop: no compositor, a PipeWire node that draws.
struct AgentPart: Part {
    static let name = "agent"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract:
            "The agent's process alone beside the limit loop, without a compositor: 1280x720 at 30 pictures a second."
    )

    @OptionGroup var options: Options

    static func measure(_ options: Options) async throws {
        let store = try Store(name, in: options.resultsFolder)
        let workload = Workload(seconds: options.seconds)
        let last = ("still", "limit-packets")
        guard (1...options.rounds).contains(where: { !store.has(last.0, last.1, $0) }) else { return }
        let bench = try await AgentBench(workload)
        defer { bench.end() }
        for round in 1...options.rounds {
            bench.move()
            try await store.measure("moving", "agent", round) { try await bench.moving() }
            try await store.measure("moving", "agent-without-session", round) { ["cpu ms/s": try await bench.idle()] }
            bench.holdStill()
            for (contender, variant) in [("limit", LimitLoop.Variant.own), ("limit-libyuv", .libyuv)] {
                try await store.measure("moving", contender, round) { try limit(variant, workload) }
            }
            try await store.measure("still", "agent-without-session", round) { ["cpu ms/s": try await bench.idle()] }
            bench.move()
            try await store.measure("still", "agent", round) { try await bench.still() }
            bench.holdStill()
            for (contender, variant) in [("limit-encoding", LimitLoop.Variant.still), ("limit-packets", .packets)] {
                try await store.measure("still", contender, round) { try limit(variant, workload) }
            }
        }
    }

    private static func limit(_ variant: LimitLoop.Variant, _ workload: Workload) throws -> [String: Double] {
        let loop = try LimitLoop.run(variant, workload)
        let latencies = Samples(loop.latencyNs.map { Double($0) / 1e6 })
        return [
            "cpu ms/picture": loop.cpuPerPicture, "cpu ms/s": loop.cpuPerPicture * Double(workload.fps),
            "latency p50 ms": latencies.quantile(0.5), "latency p99 ms": latencies.quantile(0.99),
        ]
    }
}
