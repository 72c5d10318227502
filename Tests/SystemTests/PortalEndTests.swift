import Foundation
import TestSupport
import Testing

extension SystemTests {
    /// xdg-desktop-portal-wlr 0.7 crashes if a portal session ends while its PipeWire stream still runs.
    @Suite("The end of a portal's screencast")
    struct PortalEndTests {
        @Test("comes after PipeWire has paused the screen's stream, so the portal's backend survives it")
        func order() async throws {
            let desktop = try Desktop()
            defer { desktop.end() }
            let backend = try #require(desktop.processes(running: "xdg-desktop-portal-wlr").first)
            let daemon = try #require(desktop.processes(running: "pipewire").first)
            let relay = try await RelayProcess(in: desktop)
            defer { relay.terminate() }
            // It crashes at about every other screencast's end: if it copies the screen then.
            for _ in 1...4 {
                try await show(relay)
                kill(daemon, SIGSTOP)
                async let stop = relay.post("/screencapture/broadcast/stop")
                // By the second screenshot, a backend that was told to end has ended.
                let screenshots = try? await inThread { try [desktop.screenshot(), desktop.screenshot()] }
                kill(daemon, SIGCONT)
                #expect(screenshots != nil)
                _ = try await stop
                try #require(desktop.processes(running: "xdg-desktop-portal-wlr") == [backend])
            }
        }

        /// Broadcasts the screen, and watches it for a few pictures.
        private func show(_ relay: RelayProcess) async throws {
            _ = try await relay.post("/screencapture/broadcast/start", ["timeout": 60, "source": ["kind": "portal"]])
            let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
            try await SystemTests.waitForPictures(5, at: SystemTests.viewer(of: session))
        }
    }
}
