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

        @Test("by SIGKILL, and hands back when it has been started again")
        func killed() async throws {
            try await withStandby { _, relay, session in
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(20, at: viewer)
                for round in 1...Effort.choose(2, whole: 25) {
                    kill(try await agent(relay), SIGKILL)
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
