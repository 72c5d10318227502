import Foundation
import TestSupport

/// Something that happens to a running system.
struct Fault: Sendable {
    var name: String
    /// How often the whole matrix runs it.
    var repetitions = 5
    /// How often the relay is killed, and viewers have to connect again.
    var relayKills = 0
    /// Whether it takes minutes. Random runs leave it out, and meanwhile the status is requested rarely.
    var isLong = false
    /// Causes it, and returns notes besides the figures. Repairs what does not recover by itself.
    var happen: @Sendable (Rig) async throws -> String
}

extension Fault {
    static let all: [Fault] =
        processes + encoders + links + units + desktop + resources + clock + viewers + [
            crowd(400, every: 4, minutes: 5)
        ]

    // MARK: - Agents and relay

    private static func signal(_ name: String, _ signal: Int32, repetitions: Int = 5) -> Fault {
        Fault(name: name, repetitions: repetitions) { rig in
            try Victim.signal(try await rig.status().agent, signal)
            return try await away(rig)
        }
    }

    /// Waits until the broadcast's agent no longer feeds the session.
    static func away(_ rig: Rig) async throws -> String {
        _ = try await eventually("another feed than the agent's", limit: .seconds(15)) {
            try await rig.status().feed == "primary" ? nil : true
        }
        return ""
    }

    static let processes: [Fault] = [
        Fault(name: "nothing, for 5 s") { _ in
            try await Task.sleep(for: .seconds(5))
            return ""
        },
        signal("agent SIGKILL", SIGKILL, repetitions: 50),
        signal("agent SIGTERM", SIGTERM),
        signal("agent SIGABRT, as an encoder's abort", SIGABRT),
        signal("agent SIGSTOP, without SIGCONT", SIGSTOP, repetitions: 20),
        Fault(name: "agent SIGSTOP, SIGCONT after 3 s") { rig in
            let pid = try await rig.status().agent
            try Victim.signal(pid, SIGSTOP)
            try await Task.sleep(for: .seconds(3))
            try Victim.signal(pid, SIGCONT)
            return ""
        },
        Fault(name: "standby SIGKILL") { rig in
            let pid = try await rig.status().standby
            try Victim.signal(pid, SIGKILL)
            _ = try await eventually("the standby's end", limit: .seconds(15)) {
                try await rig.status().standby == pid ? nil : true
            }
            return ""
        },
        Fault(name: "agent and standby SIGKILL") { rig in
            let status = try await rig.status()
            try Victim.signal(status.agent, SIGKILL)
            try Victim.signal(status.standby, SIGKILL)
            return try await away(rig)
        },
        Fault(name: "relay SIGKILL, started again", relayKills: 1) { rig in
            try await rig.restartRelay()
            return ""
        },
    ]

    // MARK: - Links

    /// A fake agent that displaces the real one, does something and stays for a while.
    private static func displacing(_ name: String, _ body: @escaping @Sendable (Connection) -> Void) -> Fault {
        Fault(name: name, repetitions: 3) { rig in
            let connection = try FakeAgent.takeOver(port: rig.relay.agentPort, token: Rig.token)
            body(connection)
            let note = try await away(rig)
            try await Task.sleep(for: .seconds(2))
            connection.close()
            return note
        }
    }

    static let links: [Fault] = [
        displacing("an agent takes over and sends garbage") { connection in
            var random = SystemRandomNumberGenerator()
            connection.send(FakeAgent.garbage(4096, &random))
        },
        displacing("an agent takes over and sends half a packet") { $0.send(FakeAgent.halfPacket) },
        displacing("an agent takes over and sends nothing") { _ in },
        Fault(name: "20 connections to the agents' port, garbage or nothing") { rig in
            var random = SystemRandomNumberGenerator()
            let connections = try (0..<20).map { _ in try Connection(port: rig.relay.agentPort) }
            for connection in connections.dropFirst(5) { connection.send(FakeAgent.garbage(300, &random)) }
            try await Task.sleep(for: .seconds(1))
            for connection in connections { connection.close() }
            return ""
        },
        Fault(name: "TCP reset of the agent's link") { rig in
            let status = try await rig.status()
            guard Victim.resetConnection(of: status.agent, toPort: rig.relay.agentPort) else {
                throw NeverCame(description: "the agent's link could not be reset")
            }
            return try await away(rig)
        },
        Fault(name: "TCP reset of 20 other viewers") { rig in
            let viewers = try (0..<20).map { _ in try Connection(port: rig.sessionPort) }
            for viewer in viewers { _ = viewer.read(upTo: 4096, milliseconds: 1_000) }
            for viewer in viewers { viewer.reset() }
            return ""
        },
    ]

    // MARK: - The desktop

    private static func parts(_ name: String, _ parts: [String], client: Bool = false) -> Fault {
        Fault(name: name, repetitions: 3) { rig in
            for part in parts { try rig.desktop.restart(part) }
            if client { try rig.desktop.startClient() }
            return ""
        }
    }

    static let desktop: [Fault] = [
        Fault(name: "PipeWire SIGKILL, started again after 2 s", repetitions: 3) { rig in
            for pid in rig.desktop.processes(running: "pipewire") { try Victim.signal(pid, SIGKILL) }
            try await Task.sleep(for: .seconds(2))
            for part in ["pipewire", "wireplumber", "portal-wlr", "portal"] { try rig.desktop.restart(part) }
            return ""
        },
        parts("WirePlumber SIGKILL, started again", ["wireplumber"]),
        parts("portal SIGKILL, started again", ["portal"]),
        parts("portal's backend SIGKILL, started again", ["portal-wlr"]),
        parts("compositor SIGKILL, started again", ["sway", "portal-wlr"], client: true),
    ]

    // MARK: - Resources

    static let resources: [Fault] = [
        Fault(name: "disk full, sessions come and go, agent SIGKILL", repetitions: 3) { rig in
            let (note, id) = try await rig.withFullDisk {
                let agent = try await rig.status().agent
                let id = try await rig.relay.startSession(["width": 320, "height": 180]).integer("id")
                let outcome: Result<String, any Error>
                do {
                    try Victim.signal(agent, SIGKILL)
                    let note = try await away(rig)
                    try await rig.steady()
                    outcome = .success(note)
                } catch {
                    outcome = .failure(error)
                }
                // Always, because later faults check the sessions.
                try await rig.relay.post("/screencapture/\(id)/stop")
                return (try outcome.get(), id)
            }
            let state = rig.stateFolder.appendingPathComponent("relay.json")
            _ = try await eventually("the state on the disk that has room again", limit: .seconds(20)) { () -> Bool? in
                guard let data = try? Data(contentsOf: state),
                    let kept = try? JSONSerialization.jsonObject(with: data) as? RelayProcess.Object
                else { return nil }
                return (kept["sessions"] as? [Any])?.count == 1 && kept.integer("lastSession") == id ? true : nil
            }
            return note
        },
        Fault(name: "no descriptors left, for 3 s", repetitions: 3) { rig in
            try await withoutDescriptors(rig) { try await Task.sleep(for: .seconds(3)) }
        },
        Fault(name: "fewer descriptors than an agent takes, agent SIGKILL", repetitions: 3) { rig in
            let agent = try await rig.status().agent
            let limit = try Victim.highestDescriptor(of: rig.relay.pid) + 5
            return try await rig.desktop.limiting(.descriptors, to: limit, of: rig.relay.pid) {
                try Victim.signal(agent, SIGKILL)
                try await Task.sleep(for: .seconds(3))
                return ""
            }
        },
        Fault(name: "no descriptors left, agent SIGKILL", repetitions: 3) { rig in
            let agent = try await rig.status().agent
            return try await withoutDescriptors(rig) {
                try Victim.signal(agent, SIGKILL)
                try await Task.sleep(for: .seconds(3))
            }
        },
    ]

    static let clock: [Fault] = [
        Fault(name: "wall clock an hour ahead, two back, and home, 3 s each", repetitions: 5) { rig in
            let status = try await rig.status()
            guard [status.agent, status.standby].allSatisfy(rig.wallClock.isFollowed(by:)) else {
                throw NeverCame(description: "agents without the clock that is moved")
            }
            var seen: [String] = []
            defer { try? rig.wallClock.move(to: 0) }
            for seconds in [3600, -3600, 0] {
                try rig.wallClock.move(to: seconds)
                let offset = try await WallClock.offset(of: rig.relay)
                guard abs(offset - seconds) < 60 else {
                    throw NeverCame(description: "the relay's clock is \(offset) s ahead, not \(seconds)")
                }
                seen.append("\(offset)")
                try await Task.sleep(for: .seconds(3))
            }
            return "the relay's clock was ahead by \(seen.joined(separator: ", ")) s"
        }
    ]

    /// Leaves the relay 80 descriptors, lets viewers take them, and restores the limit after `body`.
    private static func withoutDescriptors(_ rig: Rig, _ body: () async throws -> Void) async throws -> String {
        let pid = rig.relay.pid
        let limit = try Victim.highestDescriptor(of: pid) + 81
        return try await rig.desktop.limiting(.descriptors, to: limit, of: pid) {
            let viewers = try (0..<100).map { _ in try Connection(port: rig.sessionPort) }
            defer { for viewer in viewers { viewer.close() } }
            try await Task.sleep(for: .milliseconds(500))
            let (clock, begin) = (Victim.processorTime(of: pid), monotonicNow())
            try await body()
            let used = (Victim.processorTime(of: pid) - clock) / Double(monotonicNow() - begin) * 1e9
            let served = viewers.count { !$0.read(upTo: 16, milliseconds: 0).isEmpty }
            return String(format: "%d of 100 viewers served; relay's processor time %.0f %%", served, used * 100)
        }
    }

    // MARK: - Viewers

    static let viewers: [Fault] = [
        Fault(name: "5 viewers that never read, for 22 s", repetitions: 2) { rig in
            let viewers = try (0..<5).map { _ in try Connection(port: rig.sessionPort) }
            try await Task.sleep(for: .seconds(22))
            let session = try await rig.relay.get("/screencapture/1").object("counters").object("relay")
            for viewer in viewers { viewer.close() }
            return "\(session.integer("dropped")) pictures dropped for them since the relay's start"
        },
        Fault(name: "200 viewers connect and drop at random", repetitions: 3) { rig in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        try await Task.sleep(for: .milliseconds(Int.random(in: 0...5_000)))
                        let viewer = try Connection(port: rig.sessionPort)
                        if Bool.random() { _ = viewer.read(upTo: 64 << 10, milliseconds: 0) }
                        try await Task.sleep(for: .milliseconds(Int.random(in: 0...1_500)))
                        if Bool.random() { _ = viewer.read(upTo: 64 << 10, milliseconds: 0) }
                        if Bool.random() { viewer.reset() } else { viewer.close() }
                    }
                }
                try await group.waitForAll()
            }
            return ""
        },
        churn(20, repetitions: 3),
    ]

    /// Sessions that are started and stopped one after the other; every fourth is watched until it has pictures.
    static func churn(_ count: Int, repetitions: Int = 1) -> Fault {
        Fault(name: "\(count) sessions started and stopped", repetitions: repetitions) { rig in
            for number in 0..<count {
                let session = try await rig.relay.startSession([
                    "width": 320, "height": 180, "fps": 30, "codec": number % 8 == 1 ? "h265" : "h264",
                ])
                if number % 4 == 0 {
                    let viewer = try Connection(port: session.integer("port"))
                    _ = viewer.read(upTo: 4096, milliseconds: 5_000)
                    viewer.close()
                }
                try await rig.relay.post("/screencapture/\(session.integer("id"))/stop")
            }
            return ""
        }
    }
}
