import LiveFuzzing
import Testing

/// A minute of what Scripts/fuzz does for longer, always with the same seeds.
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

    @Test("by its callers, it lives, answers others, and gives all places back in time", .timeLimit(.minutes(5)))
    func callers() async throws {
        var options = CampaignOptions(seed: 1)
        options.episodes = 5
        var campaign = try CallerCampaign(options)
        let report = try await campaign.run()
        #expect(report.findings.isEmpty, "\(report.findings)")
    }
}
