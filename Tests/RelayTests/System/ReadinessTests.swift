import HeliographAPI
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("Readiness")
struct ReadinessTests {
    private func devices(_ answer: RunningRelay.Answer) -> [JSONValue] {
        guard case .array(let devices) = answer.json["devices"] else { return [] }
        return devices
    }

    @Test("a relay is ready while every device that must be broadcast has a picture")
    func pictures() async throws {
        try await RunningRelay.run {
            $0.devices = [DeviceConfiguration(name: "left"), DeviceConfiguration(name: "right")]
        } _: { relay in
            let idle = try await relay.get("/readyz")
            #expect(idle.status == 200 && idle.json["status"] == "ready")
            #expect(devices(idle).map { $0["device"] } == ["left", "right"])
            #expect(devices(idle).allSatisfy { $0["ready"] == true && $0["state"] == "idle" && $0["reason"] == .null })

            let link = try await LinkClient(greeting: relay, device: "right", streaming: false)
            let opening = try await eventually("a relay that is not ready") {
                let answer = try await relay.get("/readyz")
                return answer.status == 503 ? answer : nil
            }
            #expect(opening.code == "not_ready" && opening.json["draining"] == false)
            #expect(devices(opening).map { $0["ready"] } == [true, false])
            #expect(devices(opening)[1]["reason"] == "no_source")
            #expect(opening.headers["retry-after"] == ["5"])
            let metrics = try await relay.get("/metrics").text
            #expect(metrics.contains("heliograph_device_ready{device=\"left\"} 1"))
            #expect(metrics.contains("heliograph_device_ready{device=\"right\"} 0"))

            try await link.send(.status(.streaming))
            try await waitForStatus(200, relay)
            try await link.send(.status(SourceStatus(state: .lost, cause: "node_gone")))
            try await waitForStatus(503, relay)
            // A picture of the standby counts, too.
            let standby = try await LinkClient(greeting: relay, device: "right", role: .standby)
            try await waitForStatus(200, relay)
            withExtendedLifetime(standby) {}
            #expect(try await relay.get("/livez").status == 200)
        }
    }

    private func waitForStatus(_ status: Int, _ relay: RunningRelay) async throws {
        _ = try await eventually("status \(status)") { try await relay.get("/readyz").status == status ? () : nil }
    }
}
