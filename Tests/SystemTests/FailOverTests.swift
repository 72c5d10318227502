import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests without a desktop. A viewer stays connected through all of them, and everything that it gets decodes.
    @Suite("When an agent is lost, the other one feeds the session")
    struct FailOverTests {
        @Test("by a signal, and hands back when it has been started again", arguments: [SIGKILL, SIGABRT])
        func killed(signal: Int32) async throws {
            try await StandbyScene.with { scene in
                for round in 1...Effort.choose(2, whole: 25) {
                    try Victim.signal(try await scene.agent(), signal)
                    try await scene.waitForFeed("standby", switches: 2 * round - 1)
                    try await SystemTests.waitForPictures(5, at: scene.viewer)
                    try await scene.waitForFeed("primary", switches: 2 * round)
                    try await SystemTests.waitForPictures(5, at: scene.viewer)
                    let status = try await scene.relay.get("/screencapture/1")
                    #expect(status.object("switchCauses").integer("link_closed") == round)
                    #expect(status.object("switchCauses").integer("returned") == round)
                    #expect(status["stale"] as? Bool == false)
                }
                let metrics = try await scene.relay.text("/metrics")
                #expect(
                    metrics.contains(
                        "heliograph_link_losses_total{device=\"default\",role=\"primary\",cause=\"link_closed\"}"
                    )
                )
                try scene.expectUnbroken()
            }
        }

        @Test("by SIGSTOP, when the watchdog has noticed")
        func stopped() async throws {
            try await StandbyScene.with(arguments: ["--watchdog", "1"]) { scene in
                let pid = try await scene.agent()
                try Victim.signal(pid, SIGSTOP)
                defer { kill(pid, SIGCONT) }
                try await scene.waitForFeed("standby", switches: 1)
                let session = try await scene.relay.get("/screencapture/1")
                #expect(session.object("switchCauses").integer("link_silent") == 1)
                try await SystemTests.waitForPictures(5, at: scene.viewer)
                kill(pid, SIGCONT)
                try await scene.waitForFeed("primary", switches: 2)
                try await SystemTests.waitForPictures(5, at: scene.viewer)
                try scene.expectUnbroken()
            }
        }

        @Test("and the standby that is lost is started again, unseen by viewers")
        func standbyKilled() async throws {
            try await StandbyScene.with { scene in
                let pid = try await scene.standby().object("agent").integer("pid")
                try Victim.signal(Int32(pid), SIGKILL)
                _ = try await eventually("another standby") {
                    let standby = try await scene.standby()
                    return standby.string("state") == "live" && standby.object("agent").integer("pid") != pid
                        ? true : nil
                }
                #expect(try await scene.standby().integer("restarts") == 1)
                #expect(try await scene.relay.get("/screencapture/1").integer("switches") == 0)
                try Victim.signal(try await scene.agent(), SIGKILL)
                try await scene.waitForFeed("standby", switches: 1)
                try await SystemTests.waitForPictures(5, at: scene.viewer)
                try scene.expectUnbroken()
            }
        }

        @Test("and when both are, the viewer waits for the first that is back")
        func bothKilled() async throws {
            try await StandbyScene.with { scene in
                for pid in scene.desktop.processes(running: "capture-agent") { kill(pid, SIGKILL) }
                try await scene.waitForFeed("primary", switches: 1)
                try await SystemTests.waitForPictures(20, at: scene.viewer)
                try scene.expectUnbroken()
            }
        }

        @Test("and when the relay is, both find the next one, which goes on with the session on its port")
        func relayKilled() async throws {
            let desktop = try Desktop(.none)
            defer { desktop.end() }
            let state = ["--state-file", desktop.directory.appendingPathComponent("run/relay.json").path]
            let first = try await RelayProcess(in: desktop, arguments: state, fallback: "test-pattern")
            try await first.post("/screencapture/broadcast/start", ["source": ["kind": "test-pattern"]])
            let arguments: RelayProcess.Object = [
                "framing": "scrcpy", "width": StandbyScene.size.width, "height": StandbyScene.size.height,
                "label": "kept",
            ]
            _ = try await first.startSession(arguments)
            let session = try await first.startSession(arguments)
            try await first.post("/screencapture/1/stop")
            try await first.patch("/screencapture/2", ["fps": 20])
            _ = try await eventually("a warm standby") {
                try await StandbyScene.standby(of: first).string("state") == "live" ? true : nil
            }
            let viewer = try SystemTests.viewer(of: session)
            try await SystemTests.waitForPictures(20, at: viewer)
            let pids = try await [
                StandbyScene.agent(of: first), Int32(StandbyScene.standby(of: first).object("agent").integer("pid")),
            ]
            kill(first.pid, SIGKILL)
            first.terminate()
            _ = try await eventually("the end of the viewer's connection") { viewer.current.isClosed ? true : nil }

            let ports = ["--http", "127.0.0.1:\(first.httpPort)", "--agent-link", "127.0.0.1:\(first.agentPort)"]
            let second = try await RelayProcess(in: desktop, arguments: state + ports, fallback: "test-pattern")
            defer { second.terminate() }
            let again = try SystemTests.viewer(of: session)
            try await SystemTests.waitForPictures(20, at: again)
            #expect(
                try await [
                    StandbyScene.agent(of: second),
                    Int32(StandbyScene.standby(of: second).object("agent").integer("pid")),
                ] == pids
            )
            #expect(desktop.processes(running: "capture-agent").count == 2)
            let status = try await second.get("/screencapture/2")
            #expect(status.integer("port") == session.integer("port"))
            #expect(status.string("label") == "kept")
            #expect(status.integer("fps") == 20)
            #expect(status.string("createdAt") == session.string("createdAt"))
            let last = try #require(viewer.pictures.last?.pts)
            #expect(again.pictures.allSatisfy { $0.pts > last }, "it is the same timeline")
            try StandbyScene.expectUnbroken(again)
            #expect(try await second.startSession([:]).integer("id") == 3, "no id is used twice")
            // The relay restarts the agents that it adopted.
            try Victim.signal(pids[0], SIGKILL)
            _ = try await eventually("another agent") {
                let pid = try await StandbyScene.agent(of: second)
                return pid != 0 && pid != pids[0] ? true : nil
            }
            // It ends the agents that it adopted, because a stopped process cannot end itself.
            try Victim.signal(pids[1], SIGSTOP)
            _ = try await eventually("the end of the stopped standby") {
                desktop.processes(running: "capture-agent").contains(pids[1]) ? nil : true
            }
        }

        @Test("and the next one ends both when it is shut down, also one that is stopped as a whole")
        func adoptingRelayEnds() async throws {
            let desktop = try Desktop(.none)
            defer { desktop.end() }
            let state = ["--state-file", desktop.directory.appendingPathComponent("run/relay.json").path]
            let first = try await RelayProcess(in: desktop, arguments: state, fallback: "test-pattern")
            try await first.post("/screencapture/broadcast/start", ["source": ["kind": "test-pattern"]])
            _ = try await eventually("a warm standby") {
                try await StandbyScene.standby(of: first).string("state") == "live" ? true : nil
            }
            let agent = try await StandbyScene.agent(of: first)
            first.kill()
            let ports = ["--http", "127.0.0.1:\(first.httpPort)", "--agent-link", "127.0.0.1:\(first.agentPort)"]
            let second = try await RelayProcess(in: desktop, arguments: state + ports, fallback: "test-pattern")
            defer { second.kill() }
            _ = try await eventually("both of them") {
                let isThere = try await StandbyScene.standby(of: second).string("state") == "live"
                return try await StandbyScene.agent(of: second) == agent && isThere ? true : nil
            }
            try Victim.signal(agent, SIGSTOP)
            kill(second.pid, SIGTERM)
            _ = try await eventually("its end") { second.ending }
            #expect(second.ending == "exit status 0")
            #expect(desktop.processes(running: "capture-agent").isEmpty)
        }

        @Test("and a relay that was shut down goes on too, with new agents")
        func relayRestarted() async throws {
            let desktop = try Desktop(.none)
            defer { desktop.end() }
            let state = ["--state-file", desktop.directory.appendingPathComponent("run/relay.json").path]
            let first = try await RelayProcess(in: desktop, arguments: state)
            try await first.post("/screencapture/broadcast/start", ["source": ["kind": "test-pattern"]])
            let session = try await first.startSession(["framing": "scrcpy"])
            #expect(first.terminate() == 0)
            #expect(desktop.processes(running: "capture-agent").isEmpty)
            let second = try await RelayProcess(in: desktop, arguments: state)
            let viewer = try SystemTests.viewer(of: session)
            try await SystemTests.waitForPictures(5, at: viewer)
            try await second.post("/screencapture/stop")
            try await second.post("/screencapture/broadcast/stop")
            #expect(second.terminate() == 0)
            let third = try await RelayProcess(in: desktop, arguments: state)
            defer { third.terminate() }
            #expect((try await third.get("/screencapture")["sessions"] as? [Any])?.isEmpty == true)
            #expect(try await third.get("/screencapture/broadcast").string("state") == "idle")
        }

        @Test("and when both sources are lost, a slate says so, on the same connection")
        func slate() async throws {
            let desktop = try Desktop(.none)
            defer { desktop.end() }
            // Without a desktop, neither source is available.
            let relay = try await RelayProcess(in: desktop, arguments: ["--slate-delay", "1"], fallback: "screenshot")
            defer { relay.terminate() }
            let session = try await relay.startSession([
                "framing": "scrcpy", "width": StandbyScene.size.width, "height": StandbyScene.size.height,
            ])
            let viewer = try SystemTests.viewer(of: session)
            let refusal = await #expect(throws: RelayProcess.Refusal.self) {
                try await relay.post("/screencapture/broadcast/start", ["source": ["kind": "node", "node": "nowhere"]])
            }
            #expect(refusal?.code == "source_unavailable")
            try await SystemTests.waitForPictures(20, at: viewer)
            let status = try await relay.get("/screencapture/1")
            #expect(status.string("feed") == "none")
            #expect(status["stale"] as? Bool == true)
            let last = try #require(try FFmpeg.decodeLuma(h264: viewer.stream, size: StandbyScene.size).last)
            let bright = last.count { $0 > 0x90 }
            #expect(bright > last.count / 50 && bright < last.count / 4, "letters")
            let edge = last[StandbyScene.size.height / 2 * StandbyScene.size.width + 4]
            #expect(edge > 0x30 && edge < 0x50, "on grey")
            try StandbyScene.expectUnbroken(viewer)
        }

        @Test("and both end with the broadcast")
        func stop() async throws {
            try await StandbyScene.with { scene in
                #expect(scene.desktop.processes(running: "capture-agent").count == 2)
                try await scene.relay.post("/screencapture/broadcast/stop")
                #expect(scene.desktop.processes(running: "capture-agent").isEmpty)
                let status = try await scene.relay.get("/screencapture/broadcast")
                #expect(status.string("state") == "idle")
                #expect(status["standby"] is NSNull)
                #expect(try await scene.relay.get("/screencapture/1").string("feed") == "none")
            }
        }
    }
}
