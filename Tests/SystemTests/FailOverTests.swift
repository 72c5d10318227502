import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    /// Without a desktop. A viewer stays connected through all of these, and everything that it is sent decodes.
    @Suite("When an agent is lost, the other one feeds the session")
    struct FailOverTests {
        private static let size = PictureSize(width: 320, height: 240)

        /// A live broadcast with a standby, both of the test pattern, and a viewer that has had pictures.
        private func withStandby(
            arguments: [String] = [],
            _ body: (Desktop, RelayProcess, RelayProcess.Object) async throws -> Void
        ) async throws {
            let desktop = try Desktop(.none)
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop, arguments: arguments, fallback: "test-pattern")
            defer { relay.terminate() }
            try await relay.post("/screencapture/broadcast/start", ["source": ["kind": "test-pattern"]])
            let session = try await relay.startSession([
                "framing": "scrcpy", "width": Self.size.width, "height": Self.size.height,
            ])
            _ = try await eventually("a warm standby") {
                try await standby(relay).string("state") == "live" ? true : nil
            }
            try await body(desktop, relay, session)
        }

        private func standby(_ relay: RelayProcess) async throws -> RelayProcess.Object {
            try await relay.get("/screencapture/broadcast").object("standby")
        }

        private func agent(_ relay: RelayProcess) async throws -> Int32 {
            Int32(try await relay.get("/screencapture/broadcast").object("agent").integer("pid"))
        }

        private func waitForSource(_ source: String, _ relay: RelayProcess, switches: Int) async throws {
            _ = try await eventually("pictures from \(source), \(switches) switches") {
                let session = try await relay.get("/screencapture/1")
                return session.string("source") == source && session.integer("switches") >= switches ? true : nil
            }
        }

        private func expectUnbroken(_ viewer: ScrcpyViewer) throws {
            let current = viewer.current
            #expect(!current.isClosed)
            let decoded = try FFmpeg.decodeLuma(h264: current.pictures.flatMap(\.bytes), size: Self.size)
            #expect(decoded.count == current.pictures.count)
            #expect(zip(current.pictures, current.pictures.dropFirst()).allSatisfy { $0.pts < $1.pts })
        }

        @Test("by a signal, and hands back when it has been started again", arguments: [SIGKILL, SIGABRT])
        func killed(signal: Int32) async throws {
            try await withStandby { _, relay, session in
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(20, at: viewer)
                for round in 1...Effort.choose(2, whole: 25) {
                    kill(try await agent(relay), signal)
                    try await waitForSource("screenshot", relay, switches: 2 * round - 1)
                    try await SystemTests.waitForPictures(5, at: viewer)
                    try await waitForSource("pipewire", relay, switches: 2 * round)
                    try await SystemTests.waitForPictures(5, at: viewer)
                    let status = try await relay.get("/screencapture/1")
                    #expect(status.object("switchCauses").integer("link_closed") == round)
                    #expect(status.object("switchCauses").integer("returned") == round)
                    #expect(status["stale"] as? Bool == false)
                }
                let metrics = try await relay.text("/metrics")
                #expect(
                    metrics.contains(
                        "heliograph_link_losses_total{device=\"default\",role=\"broadcast\",cause=\"link_closed\"}"
                    )
                )
                try expectUnbroken(viewer)
            }
        }

        @Test("by SIGSTOP, when the watchdog has noticed")
        func stopped() async throws {
            try await withStandby(arguments: ["--watchdog", "1"]) { _, relay, session in
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(20, at: viewer)
                let pid = try await agent(relay)
                kill(pid, SIGSTOP)
                defer { kill(pid, SIGCONT) }
                try await waitForSource("screenshot", relay, switches: 1)
                let session = try await relay.get("/screencapture/1")
                #expect(session.object("switchCauses").integer("link_silent") == 1)
                try await SystemTests.waitForPictures(5, at: viewer)
                kill(pid, SIGCONT)
                try await waitForSource("pipewire", relay, switches: 2)
                try await SystemTests.waitForPictures(5, at: viewer)
                try expectUnbroken(viewer)
            }
        }

        @Test("and the standby that is lost is started again, unseen by viewers")
        func standbyKilled() async throws {
            try await withStandby { _, relay, session in
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(20, at: viewer)
                let pid = try await standby(relay).object("agent").integer("pid")
                kill(Int32(pid), SIGKILL)
                _ = try await eventually("another standby") {
                    let standby = try await standby(relay)
                    return standby.string("state") == "live" && standby.object("agent").integer("pid") != pid
                        ? true : nil
                }
                #expect(try await standby(relay).integer("restarts") == 1)
                #expect(try await relay.get("/screencapture/1").integer("switches") == 0)
                kill(try await agent(relay), SIGKILL)
                try await waitForSource("screenshot", relay, switches: 1)
                try await SystemTests.waitForPictures(5, at: viewer)
                try expectUnbroken(viewer)
            }
        }

        @Test("and when both are, the viewer waits for the first that is back")
        func bothKilled() async throws {
            try await withStandby { desktop, relay, session in
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(20, at: viewer)
                for pid in desktop.processes(running: "capture-agent") { kill(pid, SIGKILL) }
                try await waitForSource("pipewire", relay, switches: 1)
                try await SystemTests.waitForPictures(20, at: viewer)
                try expectUnbroken(viewer)
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
                "framing": "scrcpy", "width": Self.size.width, "height": Self.size.height, "label": "kept",
            ]
            _ = try await first.startSession(arguments)
            let session = try await first.startSession(arguments)
            try await first.post("/screencapture/1/stop")
            try await first.patch("/screencapture/2", ["fps": 20])
            _ = try await eventually("a warm standby") {
                try await standby(first).string("state") == "live" ? true : nil
            }
            let viewer = try SystemTests.viewer(of: session)
            try await SystemTests.waitForPictures(20, at: viewer)
            let pids = try await [agent(first), Int32(standby(first).object("agent").integer("pid"))]
            kill(first.pid, SIGKILL)
            first.terminate()
            _ = try await eventually("the end of the viewer's connection") { viewer.current.isClosed ? true : nil }

            let ports = ["--http", "127.0.0.1:\(first.httpPort)", "--agent-link", "127.0.0.1:\(first.agentPort)"]
            let second = try await RelayProcess(in: desktop, arguments: state + ports, fallback: "test-pattern")
            defer { second.terminate() }
            let again = try SystemTests.viewer(of: session)
            try await SystemTests.waitForPictures(20, at: again)
            #expect(try await [agent(second), Int32(standby(second).object("agent").integer("pid"))] == pids)
            #expect(desktop.processes(running: "capture-agent").count == 2)
            let status = try await second.get("/screencapture/2")
            #expect(status.integer("port") == session.integer("port"))
            #expect(status.string("label") == "kept")
            #expect(status.integer("fps") == 20)
            #expect(status.string("createdAt") == session.string("createdAt"))
            let last = try #require(viewer.pictures.last?.pts)
            #expect(again.pictures.allSatisfy { $0.pts > last }, "it is the same timeline")
            try expectUnbroken(again)
            #expect(try await second.startSession([:]).integer("id") == 3, "no id is used twice")
            // The relay restarts the agents that it adopted.
            kill(pids[0], SIGKILL)
            _ = try await eventually("another agent") {
                let pid = try await agent(second)
                return pid != 0 && pid != pids[0] ? true : nil
            }
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
            // Neither is there on a machine without a desktop.
            let relay = try await RelayProcess(in: desktop, arguments: ["--slate-delay", "1"], fallback: "screenshot")
            defer { relay.terminate() }
            let session = try await relay.startSession([
                "framing": "scrcpy", "width": Self.size.width, "height": Self.size.height,
            ])
            let viewer = try SystemTests.viewer(of: session)
            let refusal = await #expect(throws: RelayProcess.Refusal.self) {
                try await relay.post("/screencapture/broadcast/start", ["source": ["kind": "node", "node": "nowhere"]])
            }
            #expect(refusal?.code == "source_unavailable")
            try await SystemTests.waitForPictures(20, at: viewer)
            let status = try await relay.get("/screencapture/1")
            #expect(status.string("source") == "none")
            #expect(status["stale"] as? Bool == true)
            let last = try #require(try FFmpeg.decodeLuma(h264: viewer.stream, size: Self.size).last)
            let bright = last.count { $0 > 0x90 }
            #expect(bright > last.count / 50 && bright < last.count / 4, "letters")
            let edge = last[Self.size.height / 2 * Self.size.width + 4]
            #expect(edge > 0x30 && edge < 0x50, "on grey")
            try expectUnbroken(viewer)
        }

        @Test("and both end with the broadcast")
        func stop() async throws {
            try await withStandby { desktop, relay, _ in
                #expect(desktop.processes(running: "capture-agent").count == 2)
                try await relay.post("/screencapture/broadcast/stop")
                #expect(desktop.processes(running: "capture-agent").isEmpty)
                let status = try await relay.get("/screencapture/broadcast")
                #expect(status.string("state") == "idle")
                #expect(status["standby"] is NSNull)
                #expect(try await relay.get("/screencapture/1").string("source") == "none")
            }
        }
    }
}
