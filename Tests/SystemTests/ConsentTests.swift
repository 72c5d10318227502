import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Consent")
    struct ConsentTests {
        private func dialog(_ relay: RelayProcess) async throws {
            _ = try await eventually("the dialog in the status") {
                let source = try await relay.get("/screencapture/broadcast").object("source")
                return source.string("cause") == "waiting_for_consent" ? true : nil
            }
        }

        @Test(
            "a dialog that waits for an answer shows in the status; yes starts the broadcast, and is not asked for again"
        )
        func granted() async throws {
            let desktop = try Desktop(asks: true)
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop)
            defer { relay.terminate() }
            async let start = relay.post("/screencapture/broadcast/start", ["timeout": 60])
            try await dialog(relay)
            try desktop.answer(.grant)
            #expect(try await start.string("state") == "live")
            try await relay.post("/screencapture/broadcast/stop")
            // Nobody answers the dialog now; the saved token is used.
            let again = try await relay.post("/screencapture/broadcast/start", ["timeout": 60])
            #expect(again.string("state") == "live")
        }

        @Test("a dialog that is cancelled is said to be, and leaves nothing running")
        func cancelled() async throws {
            let desktop = try Desktop(asks: true)
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop)
            defer { relay.terminate() }
            async let start = relay.post("/screencapture/broadcast/start", ["timeout": 50])
            try await dialog(relay)
            try desktop.answer(.cancel)
            do {
                _ = try await start
                Issue.record("a start that was declined has to fail")
            } catch let refusal as RelayProcess.Refusal {
                #expect(refusal.status == 503 && refusal.code == "source_unavailable")
                #expect(refusal.detail.contains("cancelled"))
            }
            #expect(desktop.processes(running: "capture-agent").isEmpty)
        }

        @Test("a dialog that nobody answers is given up with the start, and the answer says what it waited for")
        func unanswered() async throws {
            let desktop = try Desktop(asks: true)
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop)
            defer { relay.terminate() }
            let refusal = await #expect(throws: RelayProcess.Refusal.self) {
                try await relay.post("/screencapture/broadcast/start", ["timeout": 3])
            }
            #expect(refusal?.status == 504 && refusal?.code == "agent_timeout")
            #expect(refusal?.detail.contains("dialog") == true)
            #expect(desktop.processes(running: "capture-agent").isEmpty)
        }

        @Test("a portal without windows to share says so")
        func noWindows() async throws {
            let desktop = try Desktop()
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop)
            defer { relay.terminate() }
            let source: RelayProcess.Object = ["kind": "portal", "content": "window"]
            let refusal = await #expect(throws: RelayProcess.Refusal.self) {
                try await relay.post("/screencapture/broadcast/start", ["source": source])
            }
            #expect(refusal?.code == "source_unavailable" && refusal?.detail.contains("windows") == true)
        }
    }
}
