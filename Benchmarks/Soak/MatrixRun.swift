import Foundation
import Synchronization
import TestSupport

/// Every fault by itself, each on a steady system.
struct MatrixRun {
    var faults: [Fault]
    /// nil: each fault's own number.
    var repetitions: Int?
    var sessions: Int

    func run() async throws -> (report: String, isGood: Bool) {
        let desktop = try Desktop()
        defer { desktop.end() }
        let rig = try await Rig(desktop: desktop)
        defer { rig.end() }
        var report = Report()
        for fault in faults {
            for _ in 0..<(repetitions ?? fault.repetitions) {
                let episode = try await Episode.of(fault, on: rig)
                tell("\(episode.line)")
                report.add(episode)
                if episode.failure != nil { try await rig.steady() }
            }
        }
        var lines: [String] = []
        if sessions > 0 {
            let churn = try await ChurnReport.run(sessions, on: rig)
            tell("\(churn.episode.line)")
            report.add(churn.episode)
            lines = churn.lines
        }
        lines += ["", "Parts of the desktop that crashed unasked: \(rig.crashes.withLock { $0 })."]
        return (([report.markdown] + lines).joined(separator: "\n"), report.isGood)
    }
}
