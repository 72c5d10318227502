import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests of sway's screencast, and of screenshots while there is none: a relay's default behaviour.
    @Suite("Screenshots stand in for a screencast")
    struct ScreenshotFallbackTests {
        private static let size = PictureSize(width: 1280, height: 720)

        private func waitForFeed(_ feed: String, _ relay: RelayProcess) async throws {
            _ = try await eventually("pictures from \(feed)") {
                try await relay.get("/screencapture/1").string("feed") == feed ? true : nil
            }
        }

        /// Expects a stream that decodes completely and shows the moving screen.
        private func expectMoving(_ viewer: ScrcpyViewer) throws {
            let current = viewer.current
            #expect(!current.isClosed)
            #expect(zip(current.pictures, current.pictures.dropFirst()).allSatisfy { $0.pts < $1.pts })
            let values = try SystemTests.counters(viewer, size: Self.size, source: Self.size)
            #expect(values.count >= current.pictures.count)
            #expect(!values.contains(-1), "every picture shows a whole counter")
            // Two sources of the same screen differ in their delay.
            let backwards = zip(values, values.dropFirst()).filter { $1 < $0 - 6 }
            #expect(backwards.isEmpty, "no picture of the past is shown: \(backwards)")
        }

        @Test("when the agent is killed, and until another has the screencast")
        func agentKilled() async throws {
            let desktop = try Desktop()
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop, fallback: nil)
            defer { relay.terminate() }
            let started = try await relay.post("/screencapture/broadcast/start", ["timeout": 60])
            let session = try await relay.startSession(["framing": "scrcpy"])
            let viewer = try SystemTests.viewer(of: session)
            try await SystemTests.waitForPictures(20, at: viewer)
            _ = try await eventually("a warm standby") {
                let standby = try await relay.get("/screencapture/broadcast").object("standby")
                return standby.object("source").string("state") == "streaming" ? true : nil
            }
            try Victim.signal(Int32(started.object("agent").integer("pid")), SIGKILL)
            try await waitForFeed("standby", relay)
            try await SystemTests.waitForPictures(20, at: viewer)
            try await waitForFeed("primary", relay)
            try await SystemTests.waitForPictures(20, at: viewer)
            let status = try await relay.get("/screencapture/1")
            #expect(status.integer("switches") == 2)
            try expectMoving(viewer)
        }

        @Test("when PipeWire ends, and until it is back")
        func pipeWireGone() async throws {
            let desktop = try Desktop()
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop, fallback: nil)
            defer { relay.terminate() }
            try await relay.post("/screencapture/broadcast/start", ["timeout": 60])
            let session = try await relay.startSession(["framing": "scrcpy"])
            let viewer = try SystemTests.viewer(of: session)
            try await SystemTests.waitForPictures(20, at: viewer)
            let daemon = try #require(desktop.processes(running: "pipewire").first)
            kill(daemon, SIGKILL)
            try await waitForFeed("standby", relay)
            try await SystemTests.waitForPictures(20, at: viewer)
            #expect(try await relay.get("/screencapture/1").object("switchCauses").integer("source_lost") == 1)
            try desktop.restart("pipewire", "wireplumber", "portal-wlr", "portal")
            try await waitForFeed("primary", relay)
            try await SystemTests.waitForPictures(20, at: viewer)
            try expectMoving(viewer)
        }

        @Test("when a person cancels the dialog: the start says so, and the session has pictures nevertheless")
        func dialogCancelled() async throws {
            let desktop = try Desktop(asks: true)
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop, fallback: nil)
            defer { relay.terminate() }
            let session = try await relay.startSession(["framing": "scrcpy"])
            let viewer = try SystemTests.viewer(of: session)
            async let start = relay.post("/screencapture/broadcast/start", ["timeout": 50])
            _ = try await eventually("the dialog in the status") {
                let source = try await relay.get("/screencapture/broadcast").object("source")
                return source.string("cause") == "waiting_for_consent" ? true : nil
            }
            try await waitForFeed("standby", relay)
            try desktop.answer(.cancel)
            do {
                _ = try await start
                Issue.record("a start that was declined has to fail")
            } catch let refusal as RelayProcess.Refusal {
                #expect(refusal.status == 503 && refusal.code == "source_unavailable")
                #expect(refusal.detail.contains("cancelled"))
            }
            try await SystemTests.waitForPictures(20, at: viewer)
            let status = try await relay.get("/screencapture/broadcast")
            #expect(status.string("state") == "live")
            #expect(status.object("source").string("cause") == "consent_cancelled")
            try expectMoving(viewer)
            try await relay.post("/screencapture/broadcast/stop")
            #expect(desktop.processes(running: "capture-agent").isEmpty)
        }
    }
}
