import ArgumentParser
import TestSupport

/// Measures how many sessions of a device hold their frame rate, and what they cost.
struct SessionsPart: Part {
    static let name = "sessions"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract:
            "Sessions of 1280x720 at 30 pictures a second, a viewer each: how many hold their cadence within 1 %.",
        discussion: "Each measurement takes at least 10 s, so that 1 % is three pictures."
    )

    static let counts = ["still": [1, 10, 50, 100, 200, 400], "moving": [1, 2, 4, 6, 8, 10, 12]]

    @OptionGroup var options: Options

    static func measure(_ options: Options) async throws {
        let store = try Store(name, in: options.resultsFolder)
        let workloads = ["still", "moving"].flatMap { kind in counts[kind]!.map { (kind, $0, "\(kind)-\($0)") } }
        for (kind, count, workload) in workloads where options.wants(workload, among: workloads.map(\.2)) {
            for round in 1...options.rounds {
                try await store.measure(workload, "heliograph", round) {
                    try await measure(count, isStill: kind == "still", seconds: max(10, options.seconds))
                }
            }
        }
    }

    private static func measure(_ count: Int, isStill: Bool, seconds: Int) async throws -> [String: Double] {
        let scene = try await NodeScene(isStill: isStill)
        defer { scene.end() }
        var sessions: [(id: Int, port: Int)] = []
        for _ in 0..<count { sessions.append(try await scene.startSession()) }
        let gallery = try Gallery(ports: sessions.map(\.port))
        defer { gallery.end() }
        _ = try await eventually("a picture of each session", limit: .seconds(180)) {
            gallery.counts.allSatisfy { $0 > 0 } ? true : nil
        }
        if isStill { try await scene.settle(sessions.map(\.id)) }
        try await Task.sleep(for: .seconds(2))
        let (agent, relay, before) = (try Meter([scene.agent]), try Meter([scene.relay.pid]), gallery.counts)
        try await Task.sleep(for: .seconds(seconds))
        let (agentUsed, relayUsed, after) = (agent.read(), relay.read(), gallery.counts)
        let rates = zip(before, after).map { Double($1 - $0) / relayUsed.seconds }
        return [
            "held": Double(rates.count { abs($0 - 30) <= 0.3 }) / Double(count),
            "least pictures/s": rates.min() ?? .nan,
            "greatest pictures/s": rates.max() ?? .nan, "agent cpu ms/s": agentUsed.cpu / agentUsed.seconds,
            "relay cpu ms/s": relayUsed.cpu / relayUsed.seconds, "agent KiB": try memory(of: scene.agent),
            "relay KiB": try memory(of: scene.relay.pid),
        ]
    }
}
