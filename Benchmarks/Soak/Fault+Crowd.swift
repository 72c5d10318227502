import Foundation
import TestSupport

extension Fault {
    /// Many sessions that rest and wake together, at each change of the screen. No link may end, and no session may be
    /// stale.
    static func crowd(_ count: Int, every seconds: Int, minutes: Int) -> Fault {
        let name = "\(count) sessions, a screen that changes every \(seconds) s, for \(minutes) minutes"
        return Fault(name: name, repetitions: 1, isLong: true) { rig in
            let before = try await Metrics(of: rig.relay)
            var ids: [Int] = []
            let outcome: Result<String, any Error>
            do {
                // Hundreds of encoders for a moving screen would be another fault.
                try rig.desktop.restartClient(["--every", "\(seconds * 1000)"])
                for _ in 0..<count {
                    let session = try await rig.relay.startSession(["width": 160, "height": 90, "fps": 5])
                    ids.append(session.integer("id"))
                }
                outcome = .success(
                    try await watch(ids, since: before, for: minutes * 60, changes: minutes * 60 / seconds, rig)
                )
            } catch {
                outcome = .failure(error)
            }
            // Always, because later faults check the sessions.
            for id in ids { _ = try? await rig.relay.post("/screencapture/\(id)/stop") }
            try rig.desktop.restartClient([])
            return try outcome.get()
        }
    }

    /// - Parameters:
    ///   - former: The metrics before there were that many sessions.
    ///   - changes: How often the screen changes in that time.
    private static func watch(
        _ ids: [Int],
        since former: Metrics,
        for seconds: Int,
        changes: Int,
        _ rig: Rig
    ) async throws -> String {
        let before = try await Metrics(of: rig.relay)
        let begin = monotonicNow()
        var (now, stale) = (before, 0)
        while monotonicNow() - begin < Int64(seconds) * 1_000_000_000 {
            // The answer about hundreds of sessions has some MB, so requests are rare.
            try await Task.sleep(for: .seconds(10))
            now = try await Metrics(of: rig.relay)
            stale = max(stale, now.staleSessions)
            guard now.linkLosses == former.linkLosses, stale == 0 else {
                let elapsed = (monotonicNow() - begin) / 1_000_000_000
                let losses = now.linkLosses - former.linkLosses
                throw NeverCame(description: "after \(elapsed) s \(losses) links were lost, \(stale) sessions stale")
            }
        }
        let live = ids.map { now.liveFrames(of: $0) - before.liveFrames(of: $0) }
        let switches = ids.reduce(now.switches(of: 1) - former.switches(of: 1)) { $0 + now.switches(of: $1) }
        let note =
            "of \(changes) changes each session encoded \(live.min() ?? 0) to \(live.max() ?? 0); feed switches \(switches)"
        guard live.allSatisfy({ $0 >= changes * 9 / 10 }) else {
            throw NeverCame(description: "changes left out: \(note)")
        }
        return note
    }
}
