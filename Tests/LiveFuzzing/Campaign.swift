import Foundation
import TestSupport

/// The settings of a live fuzzer's run.
package struct CampaignOptions: Sendable {
    /// The seed of all episodes' seeds.
    package var seed: UInt64
    /// The first episode, and the number of episodes; `nil` for as many as time allows.
    package var firstEpisode = 0
    package var episodes: Int?
    /// The time limit, in seconds; `nil` for none.
    package var seconds: Double?
    /// Whether to look for the fewest steps that end a relay.
    package var minimizes = true

    package init(seed: UInt64) { self.seed = seed }

    /// Returns an episode's own seed.
    func seed(of episode: Int) -> UInt64 {
        var random = SeededGenerator(seed: seed &+ UInt64(episode) &* 0x9E37_79B9_7F4A_7C15)
        return random.next()
    }
}

/// The findings of a live fuzzer's run: faults by their kind.
package struct CampaignReport: Sendable {
    package fileprivate(set) var findings: [String: Int] = [:]
    /// A summary of the run, for people.
    package fileprivate(set) var figures = ""

    package init() {}
}

/// Counts a fault, and shows each kind once with everything needed to repeat it.
struct CampaignLog {
    private static let lineInterval: Int64 = 60_000_000_000

    let name: String
    let options: CampaignOptions
    private(set) var report = CampaignReport()
    private let start = monotonicNow()
    private var nextLine: Int64

    init(name: String, options: CampaignOptions) {
        (self.name, self.options) = (name, options)
        nextLine = start + Self.lineInterval
        Self.print("\(name): seed \(options.seed)")
    }

    /// Seconds since the run began.
    var seconds: Double { Double(monotonicNow() - start) / 1e9 }

    /// Whether another episode begins.
    func goesOn(after episodes: Int) -> Bool {
        if let most = options.episodes { return episodes < most }
        return options.seconds.map { seconds < $0 } ?? true
    }

    /// - Parameter steps: The steps before the fault, newest last.
    mutating func note(_ fault: Fault, episode: Int, steps: [String]) {
        report.findings[fault.kind, default: 0] += 1
        guard report.findings[fault.kind] == 1 else { return }
        let time = (seconds * 10).rounded() / 10
        Self.print("\(name): FOUND after \(time) s: \(fault)")
        Self.print(
            "\(name): to repeat: LiveFuzz \(name) --seed \(options.seed) --first-episode \(episode) --episodes 1"
        )
        for step in steps { Self.print("    \(step)") }
    }

    mutating func show(_ lines: [String]) { for line in lines { Self.print("\(name): \(line)") } }

    /// Prints a line of figures each minute, and at the end.
    mutating func tick(_ figures: String, isEnd: Bool = false) {
        report.figures = figures
        guard isEnd || monotonicNow() >= nextLine else { return }
        nextLine += Self.lineInterval
        let found = report.findings.values.reduce(0, +)
        Self.print("\(name): \(Int(seconds)) s: \(figures); \(found) faults of \(report.findings.count) kinds")
        guard isEnd else { return }
        for (kind, count) in report.findings.sorted(by: { $0.value > $1.value }) {
            Self.print("\(name): \(count) x \(kind)")
        }
    }

    private static func print(_ line: String) {
        FileHandle.standardOutput.write(Data((line.prefix(4000) + "\n").utf8))
    }
}
