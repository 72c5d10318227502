import Foundation
import Synchronization
import TestSupport

/// Injects faults into a rig, one after another, and replaces the rig if it does not recover.
final class Course {
    /// The running desktop, for code that ends a run from outside.
    static let standing = Mutex<Desktop?>(nil)

    private var desktop: Desktop {
        didSet { Self.standing.withLock { $0 = desktop } }
    }
    private(set) var rig: Rig
    let report: Report

    init(report: Report) async throws {
        self.report = report
        desktop = try Desktop()
        Self.standing.withLock { [desktop] in $0 = desktop }
        rig = try await Rig(desktop: desktop)
    }

    func run(_ fault: Fault) async throws {
        let episode: Episode
        do {
            episode = try await Episode.of(fault, on: rig)
        } catch {
            let end = rig.relay.status.map { "the relay has ended, status or signal \($0); " } ?? ""
            episode = .broken(fault, end + "\(error)")
        }
        add(episode)
        guard episode.failure != nil else { return }
        do {
            guard rig.relay.status == nil else { throw NeverCame(description: "there is no relay") }
            try await rig.steady()
        } catch {
            tell("it does not recover, and another desktop and relay take its place: \(error)")
            report.addRig()
            end()
            desktop = try Desktop()
            rig = try await Rig(desktop: desktop)
        }
    }

    func add(_ episode: Episode) {
        tell("\(report.seconds) s: \(episode.line)")
        report.add(episode)
    }

    func end() {
        report.add(crashes: rig.crashes.withLock { $0 })
        rig.end()
        desktop.end()
    }
}
