import Media
import TestSupport

/// Looks for the fewest steps that end a relay, by leaving some out (Zeller's ddmin, without complements). Each try
/// uses a new relay.
struct FewestSteps {
    /// How long to look, in ns.
    private static let patience: Int64 = 120_000_000_000
    /// How often steps may fail to end a relay before they count as harmless. Most deaths depend on the relay's timing.
    private static let attempts = 4
    private static let lastAttempts = 10

    private let pictures: [Codec: RealPictures]
    private let arguments: [String]
    /// How often the found steps end a relay, for people.
    private(set) var certainty = ""

    init(pictures: [Codec: RealPictures], arguments: [String]) {
        (self.pictures, self.arguments) = (pictures, arguments)
    }

    mutating func find(in steps: [LinkStep]) async throws -> [LinkStep] {
        let deadline = monotonicNow() + Self.patience
        // Nothing happens without sessions, so their starts are left out last.
        let (starts, others) = (steps.filter(\.isStart), steps.filter { !$0.isStart })
        let fewestOthers = try await fewest(of: others, until: deadline) { starts + $0 }
        let fewest = try await fewest(of: starts, until: deadline) { $0 + fewestOthers } + fewestOthers
        var deaths = 0
        for _ in 0..<Self.lastAttempts { deaths += try await ends(fewest) ? 1 : 0 }
        certainty = "\(deaths) of \(Self.lastAttempts) times"
        return fewest
    }

    /// - Parameter whole: The steps to perform, given the remaining ones.
    private func fewest(
        of steps: [LinkStep],
        until deadline: Int64,
        _ whole: ([LinkStep]) -> [LinkStep]
    ) async throws -> [LinkStep] {
        var (steps, size) = (steps, max(1, steps.count / 2))
        while monotonicNow() < deadline {
            var (place, hasShrunk) = (0, false)
            while place < steps.count, monotonicNow() < deadline {
                var fewer = steps
                fewer.removeSubrange(place..<min(place + size, steps.count))
                if try await endsOnce(whole(fewer)) { (steps, hasShrunk) = (fewer, true) } else { place += size }
            }
            guard size > 1 || hasShrunk else { break }
            size = max(1, size / 2)
        }
        return steps
    }

    private func endsOnce(_ steps: [LinkStep]) async throws -> Bool {
        for _ in 0..<Self.attempts {
            if try await ends(steps) { return true }
        }
        return false
    }

    /// Returns whether these steps end a relay.
    private func ends(_ steps: [LinkStep]) async throws -> Bool {
        let relay = try await TestedRelay(on: Loop(), arguments: arguments)
        defer { relay.end() }
        let episode = LinkEpisode(relay: relay, pictures: pictures, isSound: false)
        do {
            for step in steps { try episode.perform(step) }
            relay.loop.run(milliseconds: 50)
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

extension LinkStep {
    /// Whether it starts a session.
    fileprivate var isStart: Bool {
        if case .startSession = self { true } else { false }
    }
}
