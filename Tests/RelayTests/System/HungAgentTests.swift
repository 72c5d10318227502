import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("An agent whose encoder hangs, and whose link is well,")
struct HungAgentTests {
    @Test("is left for the standby, ended, and replaced by another")
    func isReplaced() async throws {
        let runs = try await RunningRelay.run(agentScript: "exec sleep 1000") {
            $0.restartBackoff.first = .milliseconds(1)
            $0.hangTime = .milliseconds(200)
        } _: { relay in
            let session = try await relay.startSession()
            async let start = relay.post("/screencapture/broadcast/start")
            try await relay.waitForState("starting")
            let agent = try await LinkClient(greeting: relay)
            #expect(try await start.status == 200)
            try await agent.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            try await relay.waitForPicture(of: session.id)
            let standby = try await LinkClient(greeting: relay, pid: 4712, role: .standby)
            // The standby is asked when the pictures are overdue. From then on viewers depend on it.
            try await standby.send([SampleStream.accessUnit(1, key: true)], session: session.id)
            let shots = Mutex(1)
            _ = try await eventually("the next agent's process") { () -> Bool? in
                let number = shots.withLock { count in
                    count += 1
                    return count
                }
                try await standby.send([SampleStream.accessUnit(number, key: false)], session: session.id)
                // Their link may already be gone.
                try? await agent.send(.heartbeat(Self.heartbeat(session.id)))
                try await standby.send(.heartbeat(Heartbeat(session: session.id)))
                return try await relay.broadcast()["restarts"] == 1 ? true : nil
            }
            _ = try await agent.first { if case .stop = $0 { true } else { nil } }
            try await agent.waitForEnd()
            let number = shots.withLock { $0 + 1 }
            try await standby.send([SampleStream.accessUnit(number, key: false)], session: session.id)
            let status = try await eventually("the standby's last picture") { () -> JSONValue? in
                let status = try await relay.session(session.id)
                return status["feed"] == "standby" ? status : nil
            }
            #expect(status["switchCauses"]?["no_pictures"] == 1)
            let losses = "heliograph_link_losses_total{device=\"default\",role=\"primary\",cause=\"no_pictures\"} 1\n"
            let metrics = try await relay.get("/metrics").text
            #expect(metrics.contains(losses))
            #expect(
                metrics.contains(
                    "heliograph_session_feed_switch_gap_seconds_count{device=\"default\",session=\"1\"} 1\n"
                )
            )
        }
        #expect(runs == 2)
    }

    @Test("is ended as well where it is the standby that feeds because the source is lost", arguments: [true, false])
    func standby(afterAPicture: Bool) async throws {
        let runs = try await RunningRelay.run(agentScript: "exec sleep 1000") {
            $0.restartBackoff.first = .milliseconds(1)
            $0.hangTime = .milliseconds(200)
            $0.devices[0].fallback = .source(SourceRequest(kind: .testPattern))
        } _: { relay in
            let session = try await relay.startSession()
            async let start = relay.post("/screencapture/broadcast/start")
            try await relay.waitForState("starting")
            let agent = try await LinkClient(greeting: relay)
            #expect(try await start.status == 200)
            try await agent.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            _ = try await eventually("the standby's process") { () -> Bool? in
                try await relay.broadcast()["standby"]?["state"] != nil ? true : nil
            }
            let standby = try await LinkClient(greeting: relay, pid: 4712, role: .standby)
            try await agent.send(.status(SourceStatus(state: .lost)))
            if afterAPicture {
                try await standby.send([SampleStream.accessUnit(1, key: true)], session: session.id)
            } else {
                _ = try await standby.firstRequest(of: session.id)
            }
            _ = try await eventually("the next standby's process") { () -> Bool? in
                try? await standby.send(.heartbeat(Self.heartbeat(session.id)))
                return try await relay.broadcast()["standby"]?["restarts"] == 1 ? true : nil
            }
            try await standby.waitForEnd()
            #expect(try await relay.broadcast()["restarts"] == 0)
            let next = try await LinkClient(greeting: relay, pid: 4713, role: .standby)
            try await next.send([SampleStream.accessUnit(2, key: true)], session: session.id)
            _ = try await eventually("its picture") { () -> Bool? in
                try await relay.session(session.id)["feed"] == "standby" ? true : nil
            }
        }
        #expect(runs == 3)
    }

    @Test("is left alone where it has said that it cannot serve the session, whatever the standby gives")
    func cannotServe() async throws {
        try await RunningRelay.run(agentScript: "exec sleep 1000") {
            $0.restartBackoff.first = .milliseconds(1)
            $0.hangTime = .milliseconds(200)
        } _: { relay in
            let session = try await relay.startSession()
            async let start = relay.post("/screencapture/broadcast/start")
            try await relay.waitForState("starting")
            let agent = try await LinkClient(greeting: relay)
            #expect(try await start.status == 200)
            let standby = try await LinkClient(greeting: relay, pid: 4712, role: .standby)
            let failure = SessionFailure(code: .invalidParameters, reason: "no encoder")
            try await agent.send(.sessionError(session.id, failure))
            _ = try await eventually("the error") { () -> Bool? in
                try await relay.session(session.id)["error"] == "no encoder" ? true : nil
            }
            try await standby.send([SampleStream.accessUnit(1, key: true)], session: session.id)
            _ = try await eventually("the standby's picture") { () -> Bool? in
                try await relay.session(session.id)["feed"] == "standby" ? true : nil
            }
            // Several times the time after which a hanging agent is ended.
            for number in 2..<22 {
                try await standby.send([SampleStream.accessUnit(number, key: false)], session: session.id)
                try await agent.send(.heartbeat(Self.heartbeat(session.id)))
                try await Task.sleep(for: .milliseconds(100))
            }
            #expect(try await relay.broadcast()["restarts"] == 0)
        }
    }

    /// Returns the figures of a session that has a frame but has made no picture of it.
    private static func heartbeat(_ session: SessionID) -> Heartbeat {
        var counters = SessionCounters()
        counters.received = 1
        counters.held = 1
        return Heartbeat(session: session, framesReceived: 1, counters: counters)
    }
}
