import Foundation
import TestSupport

/// The resources of relay and agent before and after many sessions were started and stopped.
struct ChurnReport {
    private static let warmUp = 100

    static func run(_ count: Int, on rig: Rig) async throws -> (episode: Episode, lines: [String]) {
        let agent = try await rig.steady().agent
        // Memory that is loaded at first use and kept.
        _ = try await Fault.churn(warmUp).happen(rig)
        let before = try await settled(rig, agent)
        let episode = try await Episode.of(Fault.churn(count), on: rig)
        let after = try await settled(rig, agent)
        var lines = [
            "", "| after \(count) sessions | descriptors | threads | resident memory, KiB |", "|---|---|---|---|",
        ]
        for (name, before, after) in [("relay", before.relay, after.relay), ("agent", before.agent, after.agent)] {
            let growth = Double(after.memory - before.memory) / Double(before.memory) * 100
            lines.append(
                "| \(name) | \(before.descriptors) → \(after.descriptors) | \(before.threads) → \(after.threads) "
                    + "| \(before.memory) → \(after.memory), \(String(format: "%+.1f", growth)) % |"
            )
        }
        return (episode, lines)
    }

    private static func settled(_ rig: Rig, _ agent: Int32) async throws -> (relay: Footprint, agent: Footprint) {
        try await Task.sleep(for: .seconds(3))
        return (try Footprint(of: rig.relay.pid), try Footprint(of: agent))
    }
}
