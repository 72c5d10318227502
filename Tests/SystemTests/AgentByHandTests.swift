import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("An agent that is started by hand")
    struct AgentByHandTests {
        private func start(
            _ desktop: Desktop,
            _ relay: RelayProcess,
            token: String?,
            _ arguments: String...
        ) throws -> Process {
            let process = desktop.process(
                "capture-agent",
                ["--relay", "127.0.0.1:\(relay.agentPort)", "--source", "test-pattern", "--size", "320x240"]
                    + arguments,
                environment: token.map { ["HELIOGRAPH_LINK_TOKEN": $0] } ?? [:]
            )
            try Programs.start(process)
            return process
        }

        @Test("serves sessions when it has the configured token, and start uses it instead of starting another")
        func configuredToken() async throws {
            let desktop = try Desktop()
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop, linkToken: "a token of the operator's")
            defer { relay.terminate() }
            let agent = try start(desktop, relay, token: "a token of the operator's")
            defer { agent.terminate() }
            let started = try await eventually("the agent in the status") {
                let status = try await relay.get("/screencapture/broadcast")
                return status.string("state") == "live" ? status : nil
            }
            #expect(started.object("agent").integer("pid") == Int(agent.processIdentifier))
            let answer = try await relay.post("/screencapture/broadcast/start", ["source": ["kind": "test-pattern"]])
            #expect(answer.object("agent").integer("pid") == Int(agent.processIdentifier))
            let session = try await relay.startSession(["framing": "scrcpy"])
            let viewer = try ScrcpyViewer(port: session.integer("port"))
            _ = try await eventually("pictures") { viewer.pictures.count > 10 ? true : nil }
            try await relay.post("/screencapture/broadcast/stop")
            agent.waitUntilExit()
            #expect(agent.terminationStatus == 0)
        }

        @Test("is refused with a reason when its token is wrong, and the relay goes on serving")
        func wrongToken() async throws {
            let desktop = try Desktop()
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop, linkToken: "the right token of the operator")
            defer { relay.terminate() }
            let agent = try start(desktop, relay, token: "wrong")
            agent.waitUntilExit()
            #expect(agent.terminationStatus == 77)
            let status = try await relay.get("/screencapture/broadcast")
            #expect(status.string("state") == "idle")
        }

        @Test("ends itself when the relay stays away")
        func relayAway() async throws {
            let desktop = try Desktop()
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop, linkToken: "a token of the operator's")
            let agent = try start(desktop, relay, token: "a token of the operator's", "--relay-absence", "0.5")
            _ = try await eventually("the agent in the status") {
                try await relay.get("/screencapture/broadcast").string("state") == "live" ? true : nil
            }
            kill(relay.pid, SIGKILL)
            agent.waitUntilExit()
            #expect(agent.terminationStatus == 75)
            relay.terminate()
        }
    }
}
