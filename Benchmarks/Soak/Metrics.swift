import Foundation
import TestSupport

/// The metrics of a relay that the soak reads, at one moment.
struct Metrics {
    private static let stale = "heliograph_session_stale"
    private static let switches = "heliograph_session_feed_switches_total"
    private static let losses = "heliograph_link_losses_total"
    private static let malformed = "heliograph_link_malformed_units_total"
    private static let live = "heliograph_agent_session_encoded_live_total"

    /// Sums by name and session. Metrics of the whole relay have session 0.
    private var sums: [String: [Int: Int]] = [stale: [:], switches: [:], losses: [:], malformed: [:], live: [:]]

    init(of relay: RelayProcess) async throws {
        for line in try await relay.text("/metrics").split(separator: "\n") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[space...].dropFirst()) else { continue }
            let brace = line[..<space].firstIndex(of: "{") ?? space
            let session = line[brace..<space].split(separator: "session=\"").dropFirst().first?.prefix { $0 != "\"" }
            sums[String(line[..<brace])]?[session.flatMap { Int($0) } ?? 0, default: 0] += Int(value)
        }
    }

    var staleSessions: Int { sum(Self.stale) }

    var linkLosses: Int { sum(Self.losses) }

    var malformedUnits: Int { sum(Self.malformed) }

    func switches(of session: Int) -> Int { sums[Self.switches]?[session] ?? 0 }

    /// Frames that the session's agent has encoded.
    func liveFrames(of session: Int) -> Int { sums[Self.live]?[session] ?? 0 }

    private func sum(_ name: String) -> Int { sums[name]?.values.reduce(0, +) ?? 0 }
}
