import LiveFuzzing
import Testing

/// What Scripts/fuzz does for longer, always with the same seed. It attacks from the callers' side as well.
@Suite("While a live relay is fuzzed", .serialized)
struct LiveFuzzTests {
    @Test("by its agents, it lives, and viewers of every format get what they should", .timeLimit(.minutes(5)))
    func link() async throws {
        var options = CampaignOptions(seed: 1)
        options.episodes = 25
        var campaign = try LinkCampaign(options)
        let report = try await campaign.run()
        #expect(report.findings.isEmpty, "\(report.findings)")
    }
}
