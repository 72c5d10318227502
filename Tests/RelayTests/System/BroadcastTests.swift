import Foundation
import HeliographAPI
import Media
import NIOCore
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A broadcast")
struct BroadcastTests {
    @Test("that gets no HELLO in time is a 504, and its process is gone by then")
    func noHelloIsATimeout() async throws {
        let runs = try await RunningRelay.run(agentScript: "sleep 1000 & trap '' HUP; wait") { relay in
            let answer = try await relay.post("/screencapture/broadcast/start", ["timeout": .number(0.3)])
            #expect(answer.status == 504)
            #expect(answer.code == "agent_timeout")
            #expect(try await relay.broadcast()["state"] == "idle")
        }
        #expect(runs == 1)
    }

    @Test("whose agent ignores SIGTERM is killed")
    func aStubbornAgentIsKilled() async throws {
        try await RunningRelay.run(agentScript: "trap '' TERM; while true; do sleep 1000; done") { relay in
            let answer = try await relay.post("/screencapture/broadcast/start", ["timeout": .number(0.3)])
            #expect(answer.status == 504)
        }
    }

    @Test("whose agent exits is a 502 with its exit status and last words")
    func anExitIsReported() async throws {
        try await RunningRelay.run(agentScript: "echo first >&2; echo no screen here >&2; exit 3") { relay in
            let answer = try await relay.post("/screencapture/broadcast/start")
            #expect(answer.status == 502)
            #expect(answer.code == "agent_exited")
            #expect(answer.json["exitStatus"] == 3)
            #expect(answer.json["lastLine"] == "no screen here")
            #expect(try await relay.broadcast()["lastExit"]?["exitStatus"] == 3)
        }
    }

    @Test("whose agent cannot be started is a 502 that says which")
    func aMissingAgentIsReported() async throws {
        try await RunningRelay.run { relay in
            let answer = try await relay.post("/screencapture/broadcast/start")
            #expect(answer.status == 502)
            #expect(answer.code == "agent_not_started")
            #expect(answer.text.contains("/nonexistent/capture-agent"))
        }
    }

    @Test("whose source is lost is a 503 with the agent's cause, and the agent is told to stop")
    func aLostSourceIsReported() async throws {
        try await RunningRelay.run(agentScript: "exec sleep 1000") { relay in
            async let answer = relay.post("/screencapture/broadcast/start")
            try await relay.waitForState("starting")
            let link = try await LinkClient(greeting: relay, streaming: false)
            let lost = SourceStatus(state: .lost, cause: "portal_unavailable", detail: "install xdg-desktop-portal")
            try await link.send(.status(lost))
            _ = try await link.first { if case .stop = $0 { true } else { nil } }
            try await link.close()
            #expect(try await answer.status == 503)
            #expect(try await answer.code == "source_unavailable")
            #expect(try await answer.json["cause"] == "portal_unavailable")
            #expect(try await answer.json["detail"] == "install xdg-desktop-portal")
            #expect(try await answer.headers.first(name: "retry-after") == "5")
            #expect(try await relay.broadcast()["state"] == "idle")
        }
    }

    @Test("is started once for all callers, and is running for later ones")
    func startsAreJoined() async throws {
        let runs = try await RunningRelay.run(agentScript: "exec sleep 1000") { relay in
            try await withThrowingTaskGroup { group in
                for _ in 0..<5 {
                    group.addTask { try await relay.post("/screencapture/broadcast/start") }
                }
                try await relay.waitForState("starting")
                let link = try await LinkClient(greeting: relay)
                for try await answer in group {
                    #expect(answer.status == 200)
                    #expect(answer.json["state"] == "live")
                    #expect(answer.json["agent"]?["pid"] == 4711)
                    #expect(answer.json["agent"]?["managed"] == true)
                    #expect(answer.json["source"]?["width"] == 640)
                    #expect(answer.json["timings"]?["agent"]?["openMs"] == 12)
                }
                let again = try await relay.post("/screencapture/broadcast/start")
                #expect(again.json["alreadyRunning"] == true)
                #expect(again.json["timings"] == .null)
                let other = try await relay.post("/screencapture/broadcast/start", ["source": ["kind": "portal"]])
                #expect(other.status == 409)
                #expect(other.code == "broadcast_running")
                try await link.close()
            }
        }
        #expect(runs == 1)
    }

    @Test("ends when it has had no session for its ttl, in the relay's next life too, and not before")
    func endsAfterItsTTL() async throws {
        let script = try HelperScript("exec sleep 1000")
        let (path, scratch) = (script.path, try Scratch())
        let stateFile = scratch.file("relay.json").path
        try await RunningRelay.run {
            $0.devices[0].agentExecutable = path
            $0.stateFile = stateFile
            // The kernel gives the port to no other program between the two runs.
            $0.sessionPortBase = 21_000
        } _: { relay in
            _ = try await relay.startSession()
            async let start = relay.post("/screencapture/broadcast/start", ["ttl": 1])
            try await relay.waitForState("starting")
            let link = try await LinkClient(greeting: relay)
            #expect(try await start.status == 200)
            try await Task.sleep(for: .milliseconds(1500))
            #expect(try await relay.broadcast()["state"] == "live")
            #expect(try await relay.broadcast()["ttl"] == 1)
            try await link.close()
        }
        let log = LogRecorder()
        try await RunningRelay.run(log: log) {
            $0.devices[0].agentExecutable = path
            $0.stateFile = stateFile
        } _: { relay in
            #expect(try await relay.broadcast()["ttl"] == 1)
            #expect(try await relay.post("/screencapture/1/stop").status == 200)
            try await relay.waitForState("idle")
            #expect(try await relay.broadcast()["ttl"] == .null)
            #expect(log.lines.contains { $0.message.contains("no session for its ttl") })
        }
        for pid in script.runs { try await HelperScript.awaitEnd(of: pid) }
    }

    @Test("gives the agent its orders, with the token in the environment alone")
    func givesTheAgentItsOrders() async throws {
        try await RunningRelay.run(
            agentScript: "echo \"$*\" >&2; test ${#HELIOGRAPH_LINK_TOKEN} = 64 && echo \"$* token ok\" >&2; exit 4"
        ) { relay in
            let source: JSONValue = ["kind": "test-pattern", "width": 320, "height": 240, "fps": 5]
            let answer = try await relay.post("/screencapture/broadcast/start", ["source": source])
            let expected = "--relay 127.0.0.1:\(relay.ports.agentLink) --device default --source test-pattern"
            #expect(answer.json["lastLine"] == .string("\(expected) --size 320x240 --fps 5 token ok"))
        }
    }

    @Test("restarts an agent that exits, later each time")
    func restartsAnAgentThatExits() async throws {
        // The first one runs until it is ended; the others exit at once.
        let script = try HelperScript("test $(wc -l < \"$(dirname \"$0\")/runs\") -gt 1 && exit 5; exec sleep 1000")
        let path = script.path
        try await RunningRelay.run {
            $0.devices[0].agentExecutable = path
            $0.restartBackoff.first = .milliseconds(1)
            $0.restartBackoff.longest = .milliseconds(20)
        } _: { relay in
            async let answer = relay.post("/screencapture/broadcast/start")
            try await relay.waitForState("starting")
            let link = try await LinkClient(greeting: relay)
            #expect(try await answer.status == 200)
            HelperScript.end(startedBy: path)
            try await link.close()
            let status = try await eventually("three restarts") {
                let status = try await relay.broadcast()
                return if case .integer(let restarts) = status["restarts"], restarts >= 3 { status } else { nil }
            }
            #expect(status["state"] == "away")
            #expect(status["lastExit"]?["exitStatus"] == 5)
            _ = try await relay.post("/screencapture/broadcast/stop")
            #expect(try await relay.broadcast()["state"] == "idle")
        }
        // The fourth may have been stopped before it could record its start.
        #expect(script.runs.count >= 3)
        for pid in script.runs { try await HelperScript.awaitEnd(of: pid) }
    }

    @Test("of an agent started by hand is live without a spawn, and its stop asks it to leave")
    func anAgentStartedByHand() async throws {
        try await RunningRelay.run { relay in
            let link = try await LinkClient(greeting: relay)
            let start = try await relay.post("/screencapture/broadcast/start")
            #expect(start.status == 200)
            #expect(start.json["agent"]?["managed"] == false)
            async let stop = relay.post("/screencapture/broadcast/stop")
            _ = try await link.first { if case .stop = $0 { true } else { nil } }
            try await link.close()
            #expect(try await stop.status == 200)
            #expect(try await stop.json["wasRunning"] == true)
            let again = try await relay.post("/screencapture/broadcast/stop")
            #expect(again.status == 200)
            #expect(again.json["wasRunning"] == false)
        }
    }

    @Test("of a known agent that is briefly away waits for it instead of starting a second")
    func waitsForAKnownAgent() async throws {
        let runs = try await RunningRelay.run(agentScript: "exec sleep 1000") {
            $0.agentReturnGrace = .seconds(60)
        } _: { relay in
            let link = try await LinkClient(greeting: relay)
            try await relay.waitForState("live")
            try await link.close()
            try await relay.waitForState("away")
            async let answer = relay.post("/screencapture/broadcast/start")
            try await relay.waitForState("starting")
            let back = try await LinkClient(greeting: relay)
            #expect(try await answer.status == 200)
            #expect(try await answer.json["timings"]?["spawnMs"] == .null)
            try await back.close()
        }
        #expect(runs == 0)
    }

    @Test("a start that is stopped meanwhile answers its callers with 409")
    func aStopFailsAStart() async throws {
        try await RunningRelay.run(agentScript: "exec sleep 1000") { relay in
            async let answer = relay.post("/screencapture/broadcast/start")
            try await relay.waitForState("starting")
            #expect(try await relay.post("/screencapture/broadcast/stop").status == 200)
            #expect(try await answer.status == 409)
            #expect(try await answer.code == "broadcast_stopped")
        }
    }

    @Test("shows its agent's heartbeat and the rates between two")
    func showsHeartbeats() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            try await link.send(.heartbeat(heartbeat(clock: 1, frames: 60, live: 30, session: session.id)))
            try await link.send(.heartbeat(heartbeat(clock: 2_000_000_001, frames: 180, live: 90, session: session.id)))
            let status = try await eventually("rates") {
                let status = try await relay.broadcast()
                if status["heartbeat"]?["rates"]?["framesReceived"] == .integer(60) { return status }
                return nil
            }
            guard case .array(let sessions) = status["heartbeat"]?["sessions"] else {
                Issue.record("sessions are expected")
                return
            }
            #expect(sessions.first?["rates"]?["encodedLive"] == 30)
            #expect(sessions.first?["counters"]?["encodedLive"] == 90)
            #expect(status["link"]?["connected"] == true)
            let object = try await relay.session(session.id)
            #expect(object["encoder"] == "x264")
            #expect(object["rates"]?["pictures"] == 30)
            let metrics = try await relay.get("/metrics").text
            #expect(
                metrics.contains("heliograph_agent_frames_received_total{device=\"default\",role=\"primary\"} 180")
            )
            let label = "{device=\"default\",role=\"primary\",session=\"\(session.id)\"}"
            #expect(metrics.contains("heliograph_agent_session_encoded_live_total\(label) 90"))
        }
    }

    @Test("survives a heartbeat with any numbers")
    func survivesHostileHeartbeats() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            var first = heartbeat(clock: 0, frames: 0, live: 5, session: session.id)
            first.sessions[0].counters.reencodedRepeats = .max
            var second = heartbeat(clock: 1, frames: .max, live: .max, session: session.id)
            second.linkQueuedBytes = .min
            second.sessions[0].linkDrops = .max
            second.sessions[0].counters.reencodedRepeats = 5
            second.sessions[0].counters.bytes = .max
            second.sessions[0].counters.encodeTimes.add(.max)
            let counts = LatencyHistogram().counts.map { _ in UInt64.max }
            first.sessions[0].counters.encodeTimes = try #require(LatencyHistogram(counts: counts, sum: .max))
            for packet in [first, second, first, second].map(Packet.heartbeat) { try await link.send(packet) }
            _ = try await eventually("the heartbeat") {
                let frames = try await relay.broadcast()["heartbeat"]?["framesReceived"]
                return frames == .integer(.max) ? true : nil
            }
            for path in ["/screencapture", "/screencapture/\(session.id)", "/screencapture/broadcast", "/metrics"] {
                #expect(try await relay.get(path).status == 200)
            }
        }
    }

    private func heartbeat(clock: UInt64, frames: UInt64, live: UInt64, session: SessionID) -> Heartbeat {
        var counters = SessionCounters()
        counters.encodedLive = live
        return Heartbeat(session: session, clock: clock, framesReceived: frames, counters: counters)
    }
}
