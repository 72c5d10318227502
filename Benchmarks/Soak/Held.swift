import Foundation
import TestSupport

/// The resources that the relay and its agents use.
struct Held {
    let relay: Int32
    private let processes: [Int32]
    private let footprint: Footprint

    init(_ rig: Rig) throws {
        relay = rig.relay.pid
        processes = rig.desktop.processes(running: "capture-agent")
        footprint = try Footprint(of: relay)
    }

    struct Change {
        var processes = 0
        var descriptors = 0
        var threads = 0
        /// KiB
        var memory = 0
        /// The agents' processes, if there are too many.
        var leftOver = ""

        fileprivate init(from before: Held, to now: Held) {
            processes = now.processes.count - before.processes.count
            if processes > 0 { leftOver = "agents' processes: " + now.processes.map(Self.name).joined(separator: ", ") }
            guard now.relay == before.relay else { return }
            descriptors = now.footprint.descriptors - before.footprint.descriptors
            threads = now.footprint.threads - before.footprint.threads
            memory = now.footprint.memory - before.footprint.memory
        }

        /// A process's id, role, state and parent. A stopped one ("T") that is not a child of the relay's is never
        /// ended.
        private static func name(_ pid: Int32) -> String {
            let words = (try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(pid)/cmdline")))?.split(separator: 0)
            let isStandby = words?.contains(Data("standby".utf8)) ?? false
            let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
            let fields = status?.split(separator: ")").last?.split(separator: " ") ?? []
            guard fields.count > 1 else { return "\(pid), which has ended" }
            return "\(pid) (\(isStandby ? "standby" : "broadcast"), state \(fields[0]), parent \(fields[1]))"
        }
    }

    /// Returns what has grown. Waits until nothing has: as long as a hanging agent may take to end, and 3 s for the
    /// rest.
    func change(_ rig: Rig) async throws -> Change {
        var change = Change(from: self, to: try Held(rig))
        for attempt in 0..<150 {
            let isSettled = change.descriptors <= 0 && change.threads <= 0
            if change.processes <= 0, isSettled || attempt >= 30 { break }
            try await Task.sleep(for: .milliseconds(100))
            change = Change(from: self, to: try Held(rig))
        }
        return change
    }
}
