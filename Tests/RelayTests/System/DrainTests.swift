import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A relay that drains")
struct DrainTests {
    private static let key = SampleStream.accessUnit(0, key: true)

    /// Waits until the relay's port no longer answers.
    private func waitForEnd(of relay: RunningRelay) async throws {
        _ = try await eventually("the relay's end") {
            guard let client = try? await ByteClient(port: relay.ports.http) else { return () }
            try? await client.close()
            return nil
        }
    }

    @Test("accepts no new viewers, serves the present ones, and ends after the last one")
    func lastViewer() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            let viewer = try await ByteClient(port: session.port)
            try await relay.waitForViewers(1, of: session.id)
            let answer = try await relay.post("/drain")
            #expect(answer.status == 202)
            #expect(answer.json["draining"] == true && answer.json["viewers"] == 1 && answer.json["endsAt"] == .null)

            let readiness = try await relay.get("/readyz")
            #expect(readiness.status == 503 && readiness.code == "not_ready")
            #expect(readiness.json["draining"] == true)
            #expect(try await relay.get("/metrics").text.contains("heliograph_relay_draining 1"))
            let start = try await relay.post("/screencapture/start")
            #expect(start.status == 503 && start.code == "draining")
            let stream = try await relay.get("/screencapture/\(session.id)/stream.h264")
            #expect(stream.status == 503 && stream.code == "draining")
            let late = try await ByteClient(port: session.port)
            #expect(try await late.next() == nil, "the session's port takes nobody new")

            try await link.send([Self.key], session: session.id)
            #expect(try await viewer.read(Self.key.bytes.count) == Self.key.bytes, "who was there is served on")
            try await viewer.close()
            try await waitForEnd(of: relay)
            try await link.waitForEnd()
        }
    }

    @Test("ends after its timeout even with a viewer, whose stream ends cleanly")
    func timeout() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let viewer = try await ByteClient(port: session.port)
            try await relay.waitForViewers(1, of: session.id)
            let answer = try await relay.post("/drain", ["timeout": 0])
            #expect(answer.json["endsAt"] != .null)
            #expect(try await viewer.next() == nil)
            try await waitForEnd(of: relay)
        }
    }

    @Test("knows its one argument")
    func arguments() async throws {
        try await RunningRelay.run { relay in
            let early = try await relay.post("/drain", ["timeout": -1])
            #expect(early.code == "out_of_range")
            let unknown = try await relay.post("/drain", ["time": 1])
            #expect(unknown.code == "unknown_field")
            let got = try await relay.get("/drain")
            #expect(got.status == 405)
            let readiness = try await relay.get("/readyz")
            #expect(readiness.status == 200, "a refused call begins nothing")
        }
    }

    @Test("without viewers ends at once, after the answer to the caller")
    func policy() {
        let now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        let drain = Drain(now: now, timeout: .seconds(60))
        #expect(!drain.isOver(viewers: 0, now: now))
        #expect(drain.isOver(viewers: 0, now: now + Drain.shortest))
        #expect(!drain.isOver(viewers: 1, now: now + .seconds(59)))
        #expect(drain.isOver(viewers: 1, now: now + .seconds(60)))
        #expect(!Drain(now: now, timeout: nil).isOver(viewers: 1, now: now + .hours(1000)))
    }
}
