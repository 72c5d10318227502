import ArgumentParser
import Foundation
import TestSupport

/// Measures the times of a start, a join and a fail-over.
struct StartPart: Part {
    static let name = "start"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract:
            "broadcast/start cold and repeated, a session's and a viewer's first picture, and the gap of a fail-over.",
        discussion:
            "On Mutter and on sway with its portal; the fail-over on sway, by SIGKILL of the agent, to screenshots."
    )

    @OptionGroup var options: Options

    static func measure(_ options: Options) async throws {
        let store = try Store(name, in: options.resultsFolder)
        for (name, compositor, source) in [
            ("mutter", Desktop.Compositor.mutter, "mutter"), ("portal", .sway, "portal"),
        ] {
            let due = [name] + (compositor == .sway ? ["fail-over"] : [])
            guard options.wants(name, among: ["mutter", "portal"]),
                due.contains(where: { name in (1...options.rounds).contains { !store.has(name, "heliograph", $0) } })
            else { continue }
            let desktop = try Desktop(compositor)
            defer { desktop.end() }
            let relay = try await RelayProcess(
                in: desktop,
                arguments: ["--log-level", "warning"],
                fallback: compositor == .sway ? nil : "none"
            )
            defer { relay.terminate() }
            for round in 1...options.rounds {
                try await store.measure(name, "heliograph", round) { try await measure(relay, source: source) }
            }
            guard compositor == .sway else { continue }
            for round in 1...options.rounds {
                try await store.measure("fail-over", "heliograph", round) { try await failOver(relay) }
            }
        }
    }

    private static func measure(_ relay: RelayProcess, source: String) async throws -> [String: Double] {
        let body: RelayProcess.Object = ["timeout": 30, "source": ["kind": source] as RelayProcess.Object]
        var values: [String: Double] = [:]
        var begin = monotonicNow()
        func lap() -> Double { Double(monotonicNow() - begin) / 1e6 }
        _ = try await relay.get("/screencapture")  // The connection is there already.
        begin = monotonicNow()
        try await relay.post("/screencapture/broadcast/start", body)
        values["broadcast cold ms"] = lap()
        var repeated = Samples()
        for _ in 0..<20 {
            begin = monotonicNow()
            try await relay.post("/screencapture/broadcast/start", body)
            repeated.append(lap())
        }
        values["broadcast repeated ms"] = repeated.median
        begin = monotonicNow()
        let session = try await relay.startSession(["framing": "scrcpy", "fps": 30])
        values["session call ms"] = lap()
        let first = try await firstPicture(session.integer("port"))
        values["session to picture ms"] = Double(first - begin) / 1e6
        var joins = Samples()
        for _ in 0..<10 {
            try await Task.sleep(for: .milliseconds(.random(in: 100...400)))
            let start = monotonicNow()
            joins.append(Double(try await firstPicture(session.integer("port")) - start) / 1e6)
        }
        values["join to picture ms"] = joins.median
        try await relay.post("/screencapture/stop")
        try await relay.post("/screencapture/broadcast/stop")
        return values
    }

    /// Returns when a new viewer has the first keyframe's last byte, monotonic ns.
    private static func firstPicture(_ port: Int) async throws -> Int64 {
        let viewer = try ScrcpyViewer(port: port)
        defer { viewer.hangUp() }
        return try await eventually("a picture") { viewer.pictures.first?.arrived }
    }

    /// Returns the longest times between two pictures at a viewer, after the agent is killed and after it returns.
    private static func failOver(_ relay: RelayProcess) async throws -> [String: Double] {
        try await relay.post("/screencapture/broadcast/start", ["timeout": 30])
        let session = try await relay.startSession(["framing": "scrcpy", "fps": 30])
        let id = session.integer("id")
        let viewer = try ScrcpyViewer(port: session.integer("port"))
        defer { viewer.hangUp() }
        _ = try await eventually("the standby") {
            try await relay.get("/screencapture/broadcast").object("standby").string("state") == "live" ? true : nil
        }
        try await Task.sleep(for: .seconds(1))
        let agent = try await relay.get("/screencapture/broadcast").object("agent").integer("pid")
        let killed = monotonicNow()
        kill(Int32(agent), SIGKILL)
        func switched(_ count: Int) async throws -> Int64 {
            try await eventually("the switch") {
                try await relay.get("/screencapture/\(id)").integer("switches") >= count ? monotonicNow() : nil
            }
        }
        let over = try await switched(1) + 500_000_000, back = try await switched(2)
        try await Task.sleep(for: .seconds(1))
        let instants = viewer.pictures.map(\.arrived)
        func longest(from begin: Int64, to end: Int64) -> Double {
            let gaps = zip(instants, instants.dropFirst()).filter { $1 >= begin && $0 <= end }.map { $1 - $0 }
            return Double(gaps.max() ?? 0) / 1e6
        }
        try await relay.post("/screencapture/stop")
        try await relay.post("/screencapture/broadcast/stop")
        return [
            "fail-over gap ms": longest(from: killed, to: min(over, back)),
            "return gap ms": longest(from: back - 200_000_000, to: back + 800_000_000),
        ]
    }
}
