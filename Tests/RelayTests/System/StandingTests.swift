import HeliographAPI
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("What exists without a call", .serialized)
struct StandingTests {
    private static func onDemand(fps: Int) -> SessionRequest {
        var request = SessionRequest()
        (request.onDemand, request.fps) = (true, fps)
        return request
    }

    @Test("a device with autostart is not ready until its source streams, and its agent is started again")
    func autostart() async throws {
        try await RunningRelay.run(agentScript: "exec sleep 1000") {
            $0.devices[0].isAutostarted = true
            $0.devices[0].standingSessions = ["shared": Self.onDemand(fps: 7)]
        } _: { relay in
            #expect(try await relay.broadcast()["state"] == "away")
            let answer = try await relay.get("/readyz")
            #expect(answer.code == "not_ready")
            let session = try await relay.get("/v1/devices/default/sessions/shared")
            #expect(session.json["fps"] == 7 && session.json["onDemand"] == true)

            let link = try await LinkClient(greeting: relay)
            _ = try await eventually("readiness") { try await relay.get("/readyz").status == 200 ? () : nil }
            #expect(try await relay.broadcast()["state"] == "live")
            try await link.close()
            try await relay.waitForState("away")
            #expect(try await relay.get("/readyz").status == 503)

            let stopped = try await relay.post("/v1/devices/default/broadcast/stop")
            #expect(stopped.json["state"] == "idle")
            #expect(try await relay.get("/readyz").status == 200, "a call stopped it")
        }
    }

    @Test("a standing session that cannot be started makes the device unready, and the others exist")
    func portInUse() async throws {
        try await RunningRelay.run { first in
            let taken = try await first.startSession()
            try await RunningRelay.run {
                var request = SessionRequest()
                request.port = taken.port
                $0.devices[0].standingSessions = ["a": request, "b": SessionRequest()]
            } _: { relay in
                let answer = try await eventually("the session b") {
                    try await relay.get("/v1/devices/default/sessions/b").status == 200
                        ? try await relay.get("/readyz") : nil
                }
                #expect(answer.status == 503)
                #expect(answer.text.contains(#""reason":"no_session""#))
                let reason = "device default has no session a: port \(taken.port) is in use"
                #expect(answer.json["detail"]?.text.contains(reason) == true, "\(answer.text)")
            }
        }
    }

    @Test("standing sessions that cannot all exist are refused before the relay starts")
    func impossible() throws {
        func check(_ change: (inout RelayConfiguration) -> Void) -> RelayStartError? {
            var configuration = RelayConfiguration()
            configuration.devices = [DeviceConfiguration(name: "a"), DeviceConfiguration(name: "b")]
            change(&configuration)
            do throws(RelayStartError) { try configuration.validate(keyCount: nil) } catch { return error }
            return nil
        }
        var (fixed, recorded) = (SessionRequest(), SessionRequest())
        fixed.port = 8421
        recorded.record = true
        #expect(check { $0.devices[0].standingSessions = ["one": fixed] } == nil)
        #expect(
            check {
                $0.devices[0].standingSessions = ["one": fixed]
                $0.devices[1].standingSessions = ["two": fixed]
            }?.description.contains("two has the port 8421 of the session one of a") == true
        )
        #expect(
            check {
                $0.http.port = 8421
                $0.devices[0].standingSessions = ["one": fixed]
            }?.description.contains("of the HTTP API") == true
        )
        #expect(
            check {
                $0.library = nil
                $0.devices[0].standingSessions = ["one": recorded]
            }?.description.contains("library is none") == true
        )
        #expect(
            check {
                $0.devices[0].maximumSessions = 1
                $0.devices[0].standingSessions = ["one": SessionRequest(), "two": SessionRequest()]
            }?.description.contains("maxSessions is 1") == true
        )
    }

    @Test("a stop with keepScreenshots leaves the standby feeding, until the next stop")
    func keepScreenshots() async throws {
        try await RunningRelay.run(agentScript: "exec sleep 1000") {
            $0.devices[0].fallback = .source(SourceRequest(kind: .screenshot))
        } _: { relay in
            let session = try await relay.startSession(["repeat": false])
            let link = try await LinkClient(greeting: relay)
            let standby = try await LinkClient(greeting: relay, role: .standby)
            async let stopped = relay.post("/v1/devices/default/broadcast/stop", ["keepScreenshots": true])
            _ = try await link.first { if case .stop = $0 { true } else { nil } }
            try await link.close()
            let answer = try await stopped
            #expect(answer.json["screenshots"] == true && answer.json["state"] == "idle")
            try await standby.wait(for: session.id, isActive: true)

            async let ended = relay.post("/v1/devices/default/broadcast/stop")
            _ = try await standby.first { if case .stop = $0 { true } else { nil } }
            try await standby.close()
            #expect(try await ended.json["screenshots"] == false)
        }
    }

    @Test("a start without a timeout waits while a dialog is open, and one with a timeout does not")
    func consent() async throws {
        let dialog = SourceStatus(state: .opening, cause: SourceStatus.waitingForConsent)
        try await RunningRelay.run(agentScript: "exec sleep 1000") { relay in
            async let answer = relay.post("/screencapture/broadcast/start")
            try await relay.waitForState("starting")
            let link = try await LinkClient(greeting: relay, streaming: false)
            try await link.send(.status(dialog))
            _ = try await eventually("the dialog") {
                try await relay.broadcast()["source"]?["cause"] == "waiting_for_consent" ? () : nil
            }
            // It joins the start, and has a limit of its own.
            let short = try await relay.post("/screencapture/broadcast/start", ["timeout": .number(0.2)])
            #expect(short.code == "agent_timeout")
            try await link.send(.status(.streaming))
            #expect(try await answer.status == 200)
        }
    }
}
