import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    /// A short version of Scripts/soak, without a desktop.
    @Suite("A viewer who stays sees nothing worse than another agent's pictures, and no resources leak,")
    struct FaultTests {
        /// Runs `fault`, and expects the former state afterwards.
        private func survives(
            arguments: [String] = [],
            fps: Int = 30,
            environment: (Desktop) throws -> [String: String] = { _ in [:] },
            _ fault: (StandbyScene) async throws -> Void
        ) async throws {
            try await StandbyScene.with(arguments: arguments, fps: fps, environment: environment) { scene in
                // Warms up what is kept from the first use on.
                _ = try await scene.relay.text("/metrics")
                let before = try Footprint(of: scene.relay.pid)
                try await fault(scene)
                try await scene.waitForFeed("primary", switches: 0)
                try await scene.waitForStandby()
                try await SystemTests.waitForPictures(5, at: scene.viewer)
                try scene.expectUnbroken()
                _ = try await eventually("two agents, one viewer, and the descriptors of the beginning") {
                    let descriptors = try Footprint(of: scene.relay.pid).descriptors
                    let viewers = try await scene.relay.get("/screencapture/1").integer("viewers")
                    return scene.desktop.processes(running: "capture-agent").count == 2 && viewers == 1
                        && descriptors <= before.descriptors ? true : nil
                }
            }
        }

        @Test("when something takes the agent's place and sends garbage, half a packet, or nothing")
        func intruders() async throws {
            try await survives { scene in
                var random = SeededGenerator(seed: 1)
                for (round, bytes) in [FakeAgent.garbage(4096, &random), FakeAgent.halfPacket, []].enumerated() {
                    let intruder = try FakeAgent.takeOver(port: scene.relay.agentPort, token: StandbyScene.token)
                    intruder.send(bytes)
                    try await scene.waitForFeed("standby", switches: 2 * round + 1)
                    intruder.close()
                    try await scene.waitForFeed("primary", switches: 2 * round + 2)
                }
                let causes = try await scene.switchCauses()
                #expect(causes.integer("returned") == 3)
                // Displacing an agent and being cut off at once is one loss, with either cause.
                #expect(causes.integer("displaced") + causes.integer("link_failed") == 3)
                #expect(try await scene.relay.text("/metrics").contains("cause=\"link_failed\"} 1\n"))
            }
        }

        @Test("when the agent's link is reset")
        func reset() async throws {
            try await survives { scene in
                let agent = try await scene.agent()
                #expect(Victim.resetConnection(of: agent, toPort: scene.relay.agentPort))
                try await scene.waitForFeed("standby", switches: 1)
                try await scene.waitForFeed("primary", switches: 2)
                #expect(try await scene.agent() == agent, "the agent itself goes on")
                #expect(try await scene.switchCauses().integer("link_closed") == 1)
            }
        }

        @Test(
            "when viewers have all descriptors but those kept for agents, one is killed, and listeners wait without trying all the time"
        )
        func noDescriptors() async throws {
            try await survives { scene in
                let pid = scene.relay.pid
                let agents = Set(scene.desktop.processes(running: "capture-agent"))
                let agent = try await scene.agent()
                let begin = monotonicNow()
                let limit = try Victim.highestDescriptor(of: pid) + 160
                try await scene.desktop.limiting(.descriptors, to: limit, of: pid) {
                    let viewers = try (0..<200).map { _ in try Connection(port: scene.sessionPort) }
                    defer { for connection in viewers { connection.close() } }
                    _ = try await eventually("the last descriptors but those") {
                        try Victim.highestDescriptor(of: pid) >= limit - 49 ? true : nil
                    }
                    try Victim.signal(agent, SIGKILL)
                    _ = try await eventually("another agent") {
                        let now = Set(scene.desktop.processes(running: "capture-agent"))
                        return now.count == 2 && now != agents ? true : nil
                    }
                    try await SystemTests.waitForPictures(45, at: scene.viewer)
                    #expect(try Victim.highestDescriptor(of: pid) < limit - 8, "some are left still")
                }
                let late = try Connection(port: scene.sessionPort)
                defer { late.close() }
                _ = try await eventually("pictures for a late viewer") {
                    late.read(upTo: 16, milliseconds: 100).isEmpty ? nil : true
                }
                let pauses = try await acceptPauses(scene.relay)
                #expect(pauses["sessions", default: 0] > 0)
                #expect(pauses["agents"] == 0)
                // At most one pause in 0.25 s.
                let most = Int((monotonicNow() - begin) / 250_000_000) + 1
                #expect(pauses.values.allSatisfy { $0 <= most }, "\(pauses), at most \(most)")
                try await scene.waitForFeed("primary", switches: 2)
            }
        }

        @Test("when no agent can be started because there are no descriptors, until there are some")
        func noneForAgents() async throws {
            try await survives { scene in
                let pid = scene.relay.pid
                let begin = monotonicNow()
                let agents = scene.desktop.processes(running: "capture-agent")
                let agent = try await scene.agent()
                let limit = try Victim.highestDescriptor(of: pid) + 5
                try await scene.desktop.limiting(.descriptors, to: limit, of: pid) {
                    // More than are free: some may be below the highest one, too.
                    let strangers = try (0..<64).map { _ in try Connection(port: scene.relay.agentPort) }
                    defer { for connection in strangers { connection.close() } }
                    try Victim.signal(agent, SIGKILL)
                    _ = try await eventually("its end") {
                        scene.desktop.processes(running: "capture-agent") == agents.filter { $0 != agent } ? true : nil
                    }
                    try await SystemTests.waitForPictures(45, at: scene.viewer)
                }
                try await scene.waitForFeed("primary", switches: 2)
                let pauses = try await acceptPauses(scene.relay)
                #expect(pauses["agents", default: 0] > 0)
                let most = Int((monotonicNow() - begin) / 250_000_000) + 1
                #expect(pauses.values.allSatisfy { $0 <= most }, "\(pauses), at most \(most)")
            }
        }

        private func acceptPauses(_ relay: RelayProcess) async throws -> [String: Int] {
            let lines = try await relay.text("/metrics").matches(
                of: /heliograph_accept_pauses_total{listener="(\w+)"} (\d+)/
            )
            return Dictionary(uniqueKeysWithValues: lines.map { (String($0.1), Int($0.2) ?? 0) })
        }

        @Test("when the state file cannot be written, and it is as soon as it can")
        func fullDisk() async throws {
            let folder = try Scratch()
            let state = folder.file("relay.json")
            // The desktop's user is another one if the tests run as root.
            chmod(state.deletingLastPathComponent().path, 0o777)
            func kept() throws -> RelayProcess.Object {
                try JSONSerialization.jsonObject(with: Data(contentsOf: state)) as? RelayProcess.Object ?? [:]
            }
            try await survives(arguments: ["--state-file", state.path]) { scene in
                // A file that may have no byte fails like one on a full disk.
                try await scene.desktop.limiting(.fileLength, to: 0, of: scene.relay.pid) {
                    let id = try await scene.relay.startSession(["width": 160, "height": 120]).integer("id")
                    #expect(id == 2)
                    #expect(try kept().integer("lastSession") == 1, "the old state is whole")
                    try Victim.signal(try await scene.agent(), SIGKILL)
                    try await scene.waitForFeed("standby", switches: 1)
                    try await scene.waitForFeed("primary", switches: 2)
                    try await scene.relay.post("/screencapture/2/stop")
                    #expect(try kept().integer("lastSession") == 1)
                }
                _ = try await eventually("the state on the disk that has room again") {
                    let state = try kept()
                    return state.integer("lastSession") == 2 && (state["sessions"] as? [Any])?.count == 1 ? true : nil
                }
            }
        }

        @Test("when the wall clock steps an hour ahead, two back, and home, and an agent is started again meanwhile")
        func wallClock() async throws {
            var clock: WallClock?
            try await survives {
                clock = try WallClock(in: $0)
                return clock?.environment ?? [:]
            } _: { scene in
                let clock = try #require(clock)
                for agent in scene.desktop.processes(running: "capture-agent") {
                    #expect(clock.isFollowed(by: agent))
                }
                for (round, seconds) in [3600, -3600, 0].enumerated() {
                    try clock.move(to: seconds)
                    #expect(abs(try await WallClock.offset(of: scene.relay) - seconds) < 600)
                    try await SystemTests.waitForPictures(45, at: scene.viewer)
                    #expect(try await scene.relay.get("/screencapture/1").integer("switches") == 2 * round)
                    try Victim.signal(try await scene.agent(), SIGKILL)
                    try await scene.waitForFeed("standby", switches: 2 * round + 1)
                    try await scene.waitForFeed("primary", switches: 2 * round + 2)
                }
            }
        }

        @Test("when others never read what they are sent")
        func stalledViewers() async throws {
            // More pictures fill the queues sooner.
            try await survives(fps: 240) { scene in
                let stalled = try (0..<5).map { _ in try Connection(port: scene.sessionPort) }
                defer { for viewer in stalled { viewer.close() } }
                _ = try await eventually("pictures dropped for those who do not read", limit: .seconds(60)) {
                    let session = try await scene.relay.get("/screencapture/1")
                    return session.object("counters").object("relay").integer("dropped") > 0 ? true : nil
                }
            }
        }

        @Test("when 50 others come and go at random")
        func churn() async throws {
            try await survives { scene in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for seed in 0..<50 as Range<UInt64> {
                        group.addTask {
                            var random = SeededGenerator(seed: seed)
                            try await Task.sleep(for: .milliseconds(Int.random(in: 0...1_000, using: &random)))
                            let viewer = try Connection(port: scene.sessionPort)
                            try await Task.sleep(for: .milliseconds(Int.random(in: 0...500, using: &random)))
                            if Bool.random(using: &random) { _ = viewer.read(upTo: 64 << 10, milliseconds: 0) }
                            if Bool.random(using: &random) { viewer.reset() } else { viewer.close() }
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try await scene.relay.get("/screencapture/1").integer("switches") == 0)
            }
        }
    }
}
