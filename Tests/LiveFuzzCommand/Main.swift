import ArgumentParser
import LiveFuzzing

/// Fuzzes a live relay from its agents' or its callers' side: docs/design/testing.md.
@main
struct LiveFuzz: AsyncParsableCommand {
    enum Side: String, CaseIterable, ExpressibleByArgument {
        case link, callers
    }

    static let configuration = CommandConfiguration(
        abstract: "Fuzzes a relay in a process of its own. Prints the seed first, and figures each minute."
    )

    @Argument(help: "link: as agents. callers: as callers and viewers.")
    var side: Side

    @Option(help: "How long it runs.")
    var minutes = 30.0

    @Option(help: "The seed of a run that is repeated. Default: a random one.")
    var seed: UInt64?

    @Option(help: "The episode to begin with.")
    var firstEpisode = 0

    @Option(help: "How many episodes it runs, instead of for a time.")
    var episodes: Int?

    @Flag(help: "Does not look for the fewest steps that end the relay.")
    var quick = false

    mutating func run() async throws {
        var options = CampaignOptions(seed: seed ?? .random(in: 0...UInt64(Int64.max)))
        options.firstEpisode = firstEpisode
        options.episodes = episodes
        options.seconds = minutes * 60
        options.minimizes = !quick
        let report: CampaignReport
        switch side {
        case .link:
            var campaign = try LinkCampaign(options)
            report = try await campaign.run()
        case .callers:
            var campaign = try CallerCampaign(options)
            report = try await campaign.run()
        }
        if !report.findings.isEmpty { throw ExitCode.failure }
    }
}
