import Media
import TestSupport

/// A live fuzzer that works in episodes while a steady device runs.
protocol EpisodicCampaign {
    associatedtype Step
    associatedtype Figures: CampaignFigures

    /// The arguments of its relays.
    static var relayArguments: [String] { get }
    /// Returns a description of the step for people.
    static func text(of step: Step) -> String

    var options: CampaignOptions { get }
    var pictures: [Codec: RealPictures] { get }
    var log: CampaignLog { get set }
    var figures: Figures { get set }

    /// Performs one episode.
    ///
    /// - Parameters:
    ///   - connections: The number of places that are taken on the relay between episodes.
    ///   - performed: Called with each step before it is performed.
    mutating func perform(
        _ episode: Int,
        on relay: TestedRelay,
        connections: Int,
        _ performed: (Step) -> Void
    ) throws
    /// Called when a relay has died, with the episode's steps until then.
    mutating func relayDied(after steps: [Step]) async throws
}

/// What a campaign has done so far.
protocol CampaignFigures: CustomStringConvertible {
    var episodes: Int { get set }
    /// The highest memory use of the relay, in KiB.
    var memory: Int { get set }
}

extension EpisodicCampaign {
    /// After how many episodes the steady device's recording is decoded.
    private static var decodingInterval: Int { 4 }
    /// How long the relay may take to free places, in seconds. A busy machine needs most of it.
    private static var patience: Double { 20 }
    /// The number of steps before a fault that are shown.
    private static var shownSteps: Int { 25 }

    /// Runs until the time is over. After a relay's death it continues with another relay.
    mutating func runEpisodes() async throws -> CampaignReport {
        var episode = options.firstEpisode
        while log.goesOn(after: episode - options.firstEpisode) {
            let relay = try await TestedRelay(on: Loop(), arguments: Self.relayArguments)
            defer { relay.end() }
            var steps: [Step] = []
            do {
                let steady = try SteadyDevice(relay: relay, pictures: pictures)
                let connections = try relay.connections()
                repeat {
                    steps = []
                    try perform(episode, on: relay, connections: connections) { steps.append($0) }
                    try look(at: steady, on: relay, episode)
                    episode += 1
                    figures.episodes += 1
                    log.tick("\(figures)")
                } while log.goesOn(after: episode - options.firstEpisode)
            } catch {
                try await ended(by: error, steps, episode)
                episode += 1
            }
        }
        log.tick("\(figures)", isEnd: true)
        return log.report
    }

    private mutating func look(at steady: SteadyDevice, on relay: TestedRelay, _ episode: Int) throws {
        figures.memory = max(figures.memory, try relay.footprint().memory)
        try steady.verify()
        if episode % Self.decodingInterval == 0 { try steady.decode() }
    }

    /// Handles a relay that has died or cannot be used any more.
    private mutating func ended(by error: any Error, _ steps: [Step], _ episode: Int) async throws {
        guard let death = error as? TestedRelay.Death else {
            let fault = error as? Fault ?? Fault("the fuzzer cannot go on", "\(error)")
            return log.note(fault, episode: episode, steps: shown(steps))
        }
        let kind = "the relay's death"
        log.note(Fault(kind, death.description), episode: episode, steps: shown(steps))
        if options.minimizes, log.report.findings[kind] == 1 { try await relayDied(after: steps) }
    }

    mutating func relayDied(after steps: [Step]) {}

    /// Returns the last ones of `steps`, for people.
    func shown(_ steps: [Step]) -> [String] { steps.suffix(Self.shownSteps).map(Self.text) }

    /// Waits until at most `count` places are taken.
    ///
    /// - Throws: A fault if that takes too long.
    func expectPlaces(_ count: Int, on relay: TestedRelay) throws {
        var taken = 0
        let deadline = monotonicNow() + Int64(Self.patience * 1e9)
        repeat {
            taken = try relay.connections()
            if taken <= count { return }
            relay.loop.run(milliseconds: 20)
        } while monotonicNow() < deadline
        throw Fault("places that are not given back", "\(taken) instead of \(count)")
    }
}
