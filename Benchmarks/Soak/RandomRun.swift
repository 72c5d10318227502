import Foundation
import TestSupport

/// Faults in the order of a seed, every other time two, the second before the system is steady again.
struct RandomRun {
    var minutes: Double
    var seed: UInt64
    var faults: [Fault]

    func run(_ course: Course, until isOver: () -> Bool) async throws {
        var random = SeededGenerator(seed: seed)
        try await course.rig.steady()
        let begin = monotonicNow()
        let (relay, first) = (course.rig.relay.pid, try Footprint(of: course.rig.relay.pid))
        while Double(monotonicNow() - begin) < minutes * 60e9 {
            guard !isOver() else { return course.report.leaveOut("the rest of \(minutes) minutes: the time was up") }
            try await course.run(next(&random))
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...2_000, using: &random)))
        }
        let last = try Footprint(of: course.rig.relay.pid)
        course.report.add(lines: [
            "",
            "Relay at the beginning and at the end\(relay == course.rig.relay.pid ? "" : ", another process by then"): "
                + "\(first.memory) and \(last.memory) KiB, \(first.descriptors) and \(last.descriptors) descriptors, "
                + "\(first.threads) and \(last.threads) threads.",
        ])
    }

    private func next(_ random: inout SeededGenerator) -> Fault {
        let first = faults.randomElement(using: &random)!
        let isPair = Bool.random(using: &random)
        let second = faults.randomElement(using: &random)!
        let pause = Int.random(in: 0...1_500, using: &random)
        guard isPair else { return first }
        return Fault(
            name: "two of these, the second up to 1.5 s after the first",
            relayKills: first.relayKills + second.relayKills
        ) { rig in
            let names = "\(first.name), then \(second.name)"
            _ = try await first.happen(rig)
            try await Task.sleep(for: .milliseconds(pause))
            // The first one may have removed the target of the second.
            do { _ = try await second.happen(rig) } catch { return "\(names), which could not happen: \(error)" }
            return names
        }
    }
}
