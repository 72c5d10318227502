import Media
import TestSupport

/// Fuzzes the link of a live relay, in episodes, while a steady device runs.
package struct LinkCampaign {
    static let relayArguments = [
        "--request-timeout", "5", "--idle-timeout", "5", "--viewer-timeout", "2", "--agent-return-grace", "0.5",
        "--hello-timeout", "2",
    ]
    /// The number of streams to decode from an episode with valid access units only.
    private static let decodings = 3

    let options: CampaignOptions
    let pictures: [Codec: RealPictures]
    var log: CampaignLog
    var figures = LinkFigures()

    package init(_ options: CampaignOptions) throws {
        self.options = options
        pictures = try RealPictures.load()
        log = CampaignLog(name: "link", options: options)
    }

    package mutating func run() async throws -> CampaignReport { try await runEpisodes() }
}

extension LinkCampaign: EpisodicCampaign {
    mutating func perform(
        _ number: Int,
        on relay: TestedRelay,
        connections: Int,
        _ performed: (LinkStep) -> Void
    ) throws {
        let plan = LinkPlan(seed: options.seed(of: number))
        let episode = LinkEpisode(relay: relay, pictures: pictures, isSound: plan.isSound)
        defer {
            figures += episode.figures
            for fault in episode.faults { log.note(fault, episode: number, steps: shown(plan.steps)) }
        }
        for step in plan.steps {
            performed(step)
            try episode.perform(step)
            try relay.expectAlive()
        }
        episode.settle()
        try relay.expectAlive()
        if plan.isSound { episode.decode(most: Self.decodings) }
        do {
            try episode.recover()
        } catch let fault as Fault {
            episode.note(fault)
        }
        try episode.close()
        do {
            try expectPlaces(connections, on: relay)
        } catch let fault as Fault {
            episode.note(fault)
        }
    }

    mutating func relayDied(after steps: [LinkStep]) async throws {
        var search = FewestSteps(pictures: pictures, arguments: Self.relayArguments)
        let fewest = try await search.find(in: steps)
        log.show(["the fewest steps found that end it, \(search.certainty):"] + fewest.map(Self.text))
    }

    /// Returns the step without the types' names, which the language adds.
    static func text(of step: LinkStep) -> String {
        let names = ["LiveFuzzing.", "UnitRecipe.", "Spoil.", "Viewing.Format.", "Ending.", "Greeting.", "Report."]
        let text = names.reduce("\(step)") { $0.replacing($1, with: "") }
        return String(text.prefix(600))
    }
}
