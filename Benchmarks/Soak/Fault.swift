import Foundation
import TestSupport

/// Something that happens to a running system.
struct Fault: Sendable {
    var name: String
    /// How often the whole matrix lets it happen.
    var repetitions = 5
    /// Lets it happen, and returns what there is to tell of it beside the figures. Mends what does not mend itself.
    var happen: @Sendable (Rig) async throws -> String
}

extension Fault {
    /// Those that may happen at any moment of a long run.
    static let all: [Fault] = processes + links + desktop + resources + viewers

    // MARK: - Agents and relay

    private static func signal(_ name: String, _ signal: Int32, repetitions: Int = 5) -> Fault {
        Fault(name: name, repetitions: repetitions) { rig in
            kill(try await rig.status().agent, signal)
            return try await away(rig)
        }
    }

    /// Waits until the broadcast's agent is no longer what feeds the session.
    private static func away(_ rig: Rig) async throws -> String {
        _ = try await eventually("another feed than the agent's", limit: .seconds(15)) {
            try await rig.status().feed == "pipewire" ? nil : true
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
        signal("agent SIGSTOP, for good", SIGSTOP, repetitions: 20),
        Fault(name: "agent SIGSTOP, SIGCONT after 3 s") { rig in
            let pid = try await rig.status().agent
            kill(pid, SIGSTOP)
            try await Task.sleep(for: .seconds(3))
            kill(pid, SIGCONT)
            return ""
        },
        Fault(name: "standby SIGKILL") { rig in
            let pid = try await rig.status().standby
            kill(pid, SIGKILL)
            _ = try await eventually("the standby's end", limit: .seconds(15)) {
                try await rig.status().standby == pid ? nil : true
            }
            return ""
        },
        Fault(name: "agent and standby SIGKILL") { rig in
            let status = try await rig.status()
            kill(status.agent, SIGKILL)
            kill(status.standby, SIGKILL)
            return try await away(rig)
        },
        Fault(name: "relay SIGKILL, started again") { rig in
            try await rig.restartRelay()
            return ""
        },
    ]

    // MARK: - Links

    /// A fake agent that displaces the real one, does something and stays for a while.
    private static func displacing(_ name: String, _ body: @escaping @Sendable (Connection) -> Void) -> Fault {
        Fault(name: name, repetitions: 3) { rig in
            let connection = try FakeAgent.connect(rig, hello: true)
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
            let connections = try (0..<20).map { _ in try FakeAgent.connect(rig, hello: false) }
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
            for pid in rig.desktop.processes(running: "pipewire") { kill(pid, SIGKILL) }
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
            guard rig.hasOwnDisk else { throw NeverCame(description: "no disk to fill: not root") }
            rig.fillDisk()
            defer { rig.emptyDisk() }
            let id = try await rig.relay.startSession(["width": 320, "height": 180]).integer("id")
            kill(try await rig.status().agent, SIGKILL)
            let note = try await away(rig)
            try await rig.steady()
            try await rig.relay.post("/screencapture/\(id)/stop")
            rig.emptyDisk()
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
        Fault(name: "no descriptors left, agent SIGKILL", repetitions: 3) { rig in
            let agent = try await rig.status().agent
            return try await withoutDescriptors(rig) {
                kill(agent, SIGKILL)
                try await Task.sleep(for: .seconds(3))
            }
        },
    ]

    /// Leaves the relay 8 descriptors, lets viewers eat them, and gives all back after `body`.
    private static func withoutDescriptors(_ rig: Rig, _ body: () async throws -> Void) async throws -> String {
        let pid = rig.relay.pid
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")
        func limit(_ value: String) throws {
            // As the relay's user, who may.
            let process = rig.desktop.process("prlimit", ["--pid", "\(pid)", "--nofile=\(value):"])
            try Programs.start(process)
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                throw NeverCame(description: "the relay's limit could not be set")
            }
        }
        let before = try String(contentsOfFile: "/proc/\(pid)/limits", encoding: .utf8).split(separator: "\n")
            .first { $0.hasPrefix("Max open files") }?.split(separator: " ").dropFirst(3).first.map(String.init)
        try limit("\((names.compactMap { Int($0) }.max() ?? 0) + 9)")
        defer { try? limit(before ?? "1024") }
        let viewers = try (0..<40).map { _ in try Connection(port: rig.sessionPort) }
        defer { for viewer in viewers { viewer.close() } }
        try await Task.sleep(for: .milliseconds(500))
        let (clock, begin) = (Victim.processorTime(of: pid), monotonicNow())
        try await body()
        let used = (Victim.processorTime(of: pid) - clock) / Double(monotonicNow() - begin) * 1e9
        let served = viewers.count { !$0.read(upTo: 16, milliseconds: 0).isEmpty }
        return String(format: "%d of 40 viewers served; relay's processor time %.0f %%", served, used * 100)
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
