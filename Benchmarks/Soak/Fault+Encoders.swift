import Foundation
import TestSupport

extension Fault {
    /// Encoders that hang while their agents' links and heartbeats continue.
    static let encoders: [Fault] = [
        Fault(name: "standby's encoder hangs while it feeds", repetitions: 3) { rig in
            try await withoutSource(rig) { standby in
                let hung = try await HungEncoder.begin(in: standby, rig)
                defer { hung.end() }
                return try await nextStandby(after: standby, rig)
            }
        },
        Fault(name: "standby's encoder stalls for 4 s while it feeds", repetitions: 3) { rig in
            try await withoutSource(rig) { standby in
                let hung = try await HungEncoder.begin(in: standby, rig)
                defer { hung.end() }
                try await Task.sleep(for: .seconds(4))
                hung.end()
                return try await pictures(rig) { $0 == standby }
            }
        },
        Fault(name: "both agents' encoders hang", repetitions: 3) { rig in
            let before = try await rig.status()
            let first = try await HungEncoder.begin(in: before.agent, rig)
            defer { first.end() }
            // The standby has an encoder as soon as the relay wants its pictures.
            let second = try await HungEncoder.begin(in: before.standby, rig)
            defer { second.end() }
            let begin = monotonicNow()
            _ = try await eventually("another agent's pictures", limit: .seconds(30)) {
                let status = try await rig.status()
                return status.agent != before.agent && status.feed == "primary" ? true : nil
            }
            let note = "another agent fed after \(seconds(since: begin)) s"
            // Without PipeWire, the standby must feed, which shows whether it was replaced.
            return try await withoutSource(rig, waitsForFeed: false) { _ in
                note + "; " + (try await nextStandby(after: before.standby, rig))
            }
        },
    ]

    /// Runs `body` while there is no PipeWire: the broadcast's source is lost, screenshots go on. Starts it again in
    /// any case.
    ///
    /// - Parameter body: Gets the pid of the standby, which feeds the session by then unless `waitsForFeed` is false.
    private static func withoutSource(
        _ rig: Rig,
        waitsForFeed: Bool = true,
        _ body: (Int32) async throws -> String
    ) async throws -> String {
        for pid in rig.desktop.processes(running: "pipewire") { try Victim.signal(pid, SIGKILL) }
        let outcome: Result<String, any Error>
        do {
            let standby = try await eventually("the standby's pictures", limit: .seconds(15)) {
                let status = try await rig.status()
                return status.feed == "standby" || !waitsForFeed ? status.standby : nil
            }
            outcome = .success(try await body(standby))
        } catch {
            outcome = .failure(error)
        }
        for part in ["pipewire", "wireplumber", "portal-wlr", "portal"] { try rig.desktop.restart(part) }
        return try outcome.get()
    }

    /// Waits until another standby than `former` feeds the session, and returns how long that took.
    private static func nextStandby(after former: Int32, _ rig: Rig) async throws -> String {
        let begin = monotonicNow()
        _ = try await pictures(rig) { $0 != former }
        return "another standby fed after \(seconds(since: begin)) s"
    }

    /// Waits until the viewer has a second of pictures of a standby whose pid `isWanted`.
    private static func pictures(_ rig: Rig, from isWanted: (Int32) -> Bool) async throws -> String {
        _ = try await eventually("pictures of the standby that is wanted", limit: .seconds(30)) {
            let status = try await rig.status()
            return status.feed == "standby" && isWanted(status.standby) ? true : nil
        }
        let first = rig.viewer.decodedCount
        _ = try await eventually("those pictures at the viewer", limit: .seconds(15)) {
            rig.viewer.decodedCount >= first + Rig.fps ? true : nil
        }
        return ""
    }

    private static func seconds(since begin: Int64) -> String {
        String(format: "%.1f", Double(monotonicNow() - begin) / 1e9)
    }
}
