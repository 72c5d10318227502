import ArgumentParser
import Foundation
import TestSupport

/// Measures memory per session and per viewer, and the agent's allocations per picture.
struct MemoryPart: Part {
    static let name = "memory"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Memory per session and per viewer (PSS), and allocations per picture in the agent's steady state."
    )

    private static let sessions = 8
    private static let viewers = 200
    private static let control = (calls: 500, bytes: 1000)

    @OptionGroup var options: Options

    static func measure(_ options: Options) async throws {
        let store = try Store(name, in: options.resultsFolder)
        for round in 1...options.rounds {
            for kind in ["still", "moving"] {
                try await store.measure("sessions-\(kind)", "heliograph", round) {
                    try await sessions(isStill: kind == "still")
                }
                try await store.measure("allocations-\(kind)", "heliograph", round) {
                    try await allocations(isStill: kind == "still", seconds: options.seconds)
                }
            }
            try await store.measure("viewers", "heliograph", round) { try await viewers() }
        }
    }

    /// Measures memory of agent and relay with one session, and with some more.
    private static func sessions(isStill: Bool) async throws -> [String: Double] {
        let scene = try await NodeScene(isStill: isStill)
        defer { scene.end() }
        let first = try await scene.startSession()
        let viewer = try Gallery(ports: [first.port])
        defer { viewer.end() }
        try await Task.sleep(for: .seconds(4))
        let (agent, relay) = (try memory(of: scene.agent), try memory(of: scene.relay.pid))
        var ports: [Int] = []
        for _ in 0..<sessions { ports.append(try await scene.startSession().port) }
        let viewers = try Gallery(ports: ports)
        defer { viewers.end() }
        try await Task.sleep(for: .seconds(4))
        return [
            "agent KiB with one": agent, "relay KiB with one": relay,
            "agent KiB/session": (try memory(of: scene.agent) - agent) / Double(sessions),
            "relay KiB/session": (try memory(of: scene.relay.pid) - relay) / Double(sessions),
        ]
    }

    private static func viewers() async throws -> [String: Double] {
        let scene = try await NodeScene(isStill: false)
        defer { scene.end() }
        let port = try await scene.startSession().port
        let one = try Gallery(ports: [port])
        defer { one.end() }
        try await Task.sleep(for: .seconds(4))
        let before = try memory(of: scene.relay.pid)
        let others = try Gallery(ports: Array(repeating: port, count: viewers))
        defer { others.end() }
        try await Task.sleep(for: .seconds(4))
        return ["relay KiB/viewer": (try memory(of: scene.relay.pid) - before) / Double(viewers)]
    }

    /// Counts allocator calls in the agent by thread, once a session is steady, and checks the counting with a known
    /// program.
    private static func allocations(isStill: Bool, seconds: Int) async throws -> [String: Double] {
        var counter: Allocations?
        let scene = try await NodeScene(isStill: isStill) { desktop in
            let allocations = try Allocations(in: desktop)
            counter = allocations
            return allocations.environment
        }
        defer { scene.end() }
        guard let counter else { throw BenchError(description: "nothing counts") }
        let counted = try await counter.control(calls: control.calls, bytes: control.bytes, in: scene.desktop)
        guard (control.calls...(control.calls + 20)).contains(counted.calls),
            counted.bytes >= control.calls * control.bytes
        else {
            throw BenchError(description: "of \(control.calls) known allocations \(counted.calls) were counted")
        }
        let session = try await scene.startSession()
        let viewer = try Gallery(ports: [session.port])
        defer { viewer.end() }
        if isStill { try await scene.settle([session.id]) }
        try await Task.sleep(for: .seconds(5))
        let (before, pictures, begin) = (try counter.threads(of: scene.agent), viewer.counts[0], monotonicNow())
        try await Task.sleep(for: .seconds(2 * seconds))
        let (found, count) = (try counter.since(before, of: scene.agent), Double(viewer.counts[0] - pictures))
        let duration = Double(monotonicNow() - begin) / 1e9
        var values = [
            "control calls": Double(counted.calls), "pictures": count,
            "calls/picture": Double(found.values.reduce(0) { $0 + $1.calls }) / count,
            "bytes/picture": Double(found.values.reduce(0) { $0 + $1.bytes }) / count,
        ]
        for (thread, sum) in found { values["calls/s of \(thread)"] = Double(sum.calls) / duration }
        return values
    }
}
