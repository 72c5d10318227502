import HeliographAPI
import Media
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("The status says of encoders")
struct EncoderStatusTests {
    @Test("which a session has, why, and how many failed")
    func sessionEncoder() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            var counters = SessionCounters()
            counters.encoderRestarts = 3
            let reason = "h264_vaapi failed to encode a picture"
            try await link.send(
                .heartbeat(Heartbeat(session: session.id, encoderReason: reason, counters: counters))
            )
            let status = try await eventually("the heartbeat") { () -> JSONValue? in
                let status = try await relay.session(session.id)
                if status["encoder"] == "x264" { return status }
                return nil
            }
            #expect(status["encoderReason"] == .string(reason))
            #expect(status["encoderRestarts"] == 3)
            let labels = "{device=\"default\",role=\"primary\",session=\"1\"}"
            let metric = "heliograph_agent_session_encoder_restarts_total\(labels) 3\n"
            #expect(try await relay.get("/metrics").text.contains(metric))
            guard case .array(let figures) = try await relay.broadcast()["heartbeat"]?["sessions"] else {
                Issue.record("the heartbeat's sessions are expected")
                return
            }
            #expect(figures.first?["encoder"] == "x264")
            #expect(figures.first?["encoderReason"] == .string(reason))
            #expect(figures.first?["encoderRestarts"] == 3)
        }
    }

    @Test("which the agent has tried, null before it said so and when it is gone")
    func broadcastEncoders() async throws {
        try await RunningRelay.run { relay in
            let link = try await LinkClient(greeting: relay)
            try await relay.waitForState("live")
            #expect(try await relay.broadcast()["encoders"] == .null)
            let first = EncoderReport(name: "h264_nvenc", codec: .h264, available: false, reason: "no device")
            try await link.send(.encoders(EncoderReports(encoders: [first])))
            let second = EncoderReport(name: "x265", codec: .h265, available: true)
            try await link.send(.encoders(EncoderReports(encoders: [first, second])))
            let expected: JSONValue = [
                ["available": false, "codec": "h264", "name": "h264_nvenc", "reason": "no device"],
                ["available": true, "codec": "h265", "name": "x265", "reason": nil],
            ]
            _ = try await eventually("both encoders") {
                try await relay.broadcast()["encoders"] == expected ? true : nil
            }
            try await link.close()
            try await relay.waitForState("away")
            #expect(try await relay.broadcast()["encoders"] == .null)
        }
    }

    @Test("how a player turns the last picture")
    func orientation() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            for (number, orientation) in [UInt8(0), 3].enumerated() {
                var unit = SampleStream.accessUnit(number, key: number == 0)
                unit.orientation = orientation
                try await link.send([unit], session: session.id)
                _ = try await eventually("orientation \(orientation)") {
                    try await relay.session(session.id)["orientation"] == JSONValue.integer(Int(orientation))
                        ? true : nil
                }
            }
        }
    }
}
