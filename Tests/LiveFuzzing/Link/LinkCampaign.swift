import Media
import TestSupport

/// Fuzzes the link of a live relay, episode by episode, beside a steady device.
package struct LinkCampaign {
    private static let arguments = [
        "--request-timeout", "5", "--idle-timeout", "5", "--viewer-timeout", "2", "--agent-return-grace", "0.5",
        "--hello-timeout", "2",
    ]
    /// Streams that are decoded of an episode whose access units are all valid.
    private static let decodings = 3
    /// Steps that are shown of what led to a fault.
    private static let shownSteps = 25
    /// How often a relay is started to find the fewest steps that end it.
    private static let mostTries = 80
    /// How many episodes there are between two looks at the steady device.
    private static let steadyInterval = 5

    private let options: CampaignOptions
    private let pictures: [Codec: RealPictures]
    private var log: CampaignLog
    private var figures = LinkFigures()

    package init(_ options: CampaignOptions) throws {
        self.options = options
        pictures = try RealPictures.load()
        log = CampaignLog(name: "link", options: options)
    }

    /// Runs until the time is over; after a relay's death with another one.
    package mutating func run() async throws -> CampaignReport {
        var episode = options.firstEpisode
        while log.goesOn(after: episode - options.firstEpisode) {
            let relay = try await TestedRelay(on: Loop(), arguments: Self.arguments)
            defer { relay.end() }
            var steps: [LinkStep] = []
            do {
                let steady = try SteadyDevice(relay: relay, pictures: pictures)
                let connections = try relay.connections()
                repeat {
                    let plan = LinkPlan(seed: options.seed(of: episode))
                    steps = []
                    try perform(plan, episode, on: relay, connections: connections) { steps.append($0) }
                    try look(at: steady, on: relay, episode)
                    episode += 1
                    log.tick("\(figures)")
                } while log.goesOn(after: episode - options.firstEpisode)
            } catch {
                try await ended(by: error, relay, steps, episode)
                episode += 1
            }
        }
        log.tick("\(figures)", isEnd: true)
        return log.report
    }

    private mutating func perform(
        _ plan: LinkPlan,
        _ number: Int,
        on relay: TestedRelay,
        connections: Int,
        _ performed: (LinkStep) -> Void
    ) throws {
        let episode = LinkEpisode(relay: relay, pictures: pictures, isSound: plan.isSound)
        defer {
            add(episode.figures)
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
        try expectPlaces(connections, on: relay, episode)
        figures.episodes += 1
    }

    private func expectPlaces(_ expected: Int, on relay: TestedRelay, _ episode: LinkEpisode) throws {
        var count = 0
        let deadline = monotonicNow() + 20_000_000_000
        repeat {
            count = try relay.connections()
            if count <= expected { return }
            relay.loop.run(milliseconds: 20)
        } while monotonicNow() < deadline
        episode.note(Fault("places that are not given back", "\(count) instead of \(expected)"))
    }

    private mutating func look(at steady: SteadyDevice, on relay: TestedRelay, _ episode: Int) throws {
        figures.memory = max(figures.memory, try relay.footprint().memory)
        guard episode % Self.steadyInterval == 0 else { return }
        try steady.verify()
        try steady.decode()
    }

    /// The relay has died, or cannot be used any more.
    private mutating func ended(by error: any Error, _ relay: TestedRelay, _ steps: [LinkStep], _ episode: Int)
        async throws
    {
        guard let death = error as? TestedRelay.Death else {
            let fault = error as? Fault ?? Fault("the fuzzer cannot go on", "\(error)")
            return log.note(fault, episode: episode, steps: shown(steps))
        }
        log.note(Fault("the relay's death", death.description), episode: episode, steps: shown(steps))
        guard options.minimizes, log.report.findings["the relay's death"] == 1 else { return }
        let fewest = try await fewestSteps(of: steps)
        log.show(["the fewest steps that end it:"] + fewest.map(Self.text))
    }

    private func shown(_ steps: [LinkStep]) -> [String] { steps.suffix(Self.shownSteps).map(Self.text) }

    /// The step without the types' names, which the language puts in.
    private static func text(of step: LinkStep) -> String {
        let names = ["LiveFuzzing.", "UnitRecipe.", "Spoil.", "Viewing.Format.", "Ending.", "Greeting.", "Report."]
        let text = names.reduce("\(step)") { $0.replacing($1, with: "") }
        return String(text.prefix(600))
    }

    private mutating func add(_ other: LinkFigures) {
        figures.packets += other.packets
        figures.units += other.units
        figures.joins += other.joins
        figures.pictures += other.pictures
        figures.stalls += other.stalls
        figures.linksLost += other.linksLost
        figures.gapsTold += other.gapsTold
        figures.recoveries += other.recoveries
        figures.decodings += other.decodings
    }

    // MARK: Fewest steps

    /// Leaves steps out, half of them, then fewer at a time, as long as the others end a relay (Zeller's ddmin, without complements).
    private func fewestSteps(of steps: [LinkStep]) async throws -> [LinkStep] {
        var (steps, size, tries) = (steps, max(1, steps.count / 2), 0)
        while true {
            var (place, hasShrunk) = (0, false)
            while place < steps.count, tries < Self.mostTries {
                var fewer = steps
                fewer.removeSubrange(place..<min(place + size, steps.count))
                tries += 1
                if try await ends(fewer) { (steps, hasShrunk) = (fewer, true) } else { place += size }
            }
            guard size > 1 || hasShrunk, tries < Self.mostTries else { return steps }
            size = max(1, size / 2)
        }
    }

    /// Whether these steps end a relay.
    private func ends(_ steps: [LinkStep]) async throws -> Bool {
        let relay = try await TestedRelay(on: Loop(), arguments: Self.arguments)
        defer { relay.end() }
        let episode = LinkEpisode(relay: relay, pictures: pictures, isSound: false)
        do {
            for step in steps { try episode.perform(step) }
            relay.loop.run(milliseconds: 100)
            try relay.expectAlive()
            _ = try relay.call("GET", "/livez")
        } catch is TestedRelay.Death {
            return true
        } catch {
            return false
        }
        return false
    }
}
