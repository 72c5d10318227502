import Foundation
import Synchronization
import TestSupport

/// Faults in the order of a seed, some of them before the last one is over.
struct RandomRun {
    var minutes: Double
    var seed: UInt64
    var faults: [Fault]

    func run() async throws -> (report: String, isGood: Bool) {
        let desktop = try Desktop()
        defer { desktop.end() }
        let rig = try await Rig(desktop: desktop)
        defer { rig.end() }
        var random = SeededGenerator(seed: seed)
        var report = Report()
        try await rig.steady()
        let begin = monotonicNow()
        let first = try Footprint(of: rig.relay.pid)
        while Double(monotonicNow() - begin) < minutes * 60e9 {
            let fault = faults.randomElement(using: &random)!
            let second = Bool.random(using: &random) ? faults.randomElement(using: &random) : nil
            let pause = Int.random(in: 0...1_500, using: &random)
            let both = Fault(name: second == nil ? fault.name : "two faults, the second up to 1.5 s after the first") {
                rig in
                let note = try await fault.happen(rig)
                guard let second else { return note }
                try await Task.sleep(for: .milliseconds(pause))
                // The first one may have taken away what the second wants to hit.
                do { _ = try await second.happen(rig) } catch is NeverCame {} catch is URLError {}
                return "\(fault.name), then \(second.name)"
            }
            let episode = try await Episode.of(both, on: rig)
            tell("\(Int(Double(monotonicNow() - begin) / 1e9)) s: \(episode.line) \(episode.note)")
            report.add(episode)
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...2_000, using: &random)))
        }
        let last = try Footprint(of: rig.relay.pid)
        let seconds = Int(Double(monotonicNow() - begin) / 1e9)
        return (
            "Seed \(seed), \(seconds) s. Relay at the beginning and at the end: \(first.memory) and \(last.memory) KiB, "
                + "\(first.descriptors) and \(last.descriptors) descriptors. Parts of the desktop that crashed unasked: \(rig.crashes.withLock { $0 }).\n\n"
                + report.markdown,
            report.isGood
        )
    }
}
