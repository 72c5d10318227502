import HeliographAPI
import Media
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A running session's change")
struct RunningSessionChangeTests {
    @Test("is sent to the agent and shown; a viewer stays, and its pictures continue")
    func changesARunningSession() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["width": 640, "height": 360])
            let viewer = try await ByteClient(port: session.port)
            try await relay.waitForViewers(1, of: session.id)
            let link = try await LinkClient(greeting: relay)
            let before = SampleStream.accessUnit(0, key: true)
            try await link.send([before], session: session.id)
            #expect(try await viewer.read(before.bytes.count) == before.bytes)

            let path = "/screencapture/\(session.id)"
            let answer = try await relay.patch(path, ["bitrate": 1_000_000, "fps": 15, "width": 320])
            #expect(answer.status == 200)
            #expect(answer.json["bitrate"] == 1_000_000)
            #expect(answer.json["fps"] == 15)
            #expect(answer.json["width"] == 320, "what is asked for, as long as no picture has it")
            #expect(answer.json["height"] == 360)
            #expect(answer.json["viewers"] == 1)
            let update = try await link.first { packet -> SessionUpdate? in
                if case .sessionUpdate(session.id, let update) = packet { update } else { nil }
            }
            let size = RequestedSize(width: 320, height: 360)
            #expect(update == SessionUpdate(bitrate: 1_000_000, fps: 15, size: size))

            var after = SampleStream.accessUnit(1, key: true)
            after.size = PictureSize(width: 320, height: 360)
            try await link.send([after], session: session.id)
            #expect(try await viewer.read(after.bytes.count) == after.bytes)
        }
    }

    @Test("that changes nothing answers the session and tells the agent nothing")
    func changesNothing() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            let path = "/screencapture/\(session.id)"
            for body in [[:], ["fps": 30], ["width": nil]] as [JSONValue] {
                let answer = try await relay.patch(path, body)
                #expect(answer.status == 200)
                #expect(answer.json["id"] == 1)
            }
            #expect(try await relay.patch(path, ["fps": 10]).status == 200)
            let first = try await link.first { packet -> SessionUpdate? in
                if case .sessionUpdate(_, let update) = packet { update } else { nil }
            }
            #expect(first == SessionUpdate(fps: 10), "and none came before it")
        }
    }

    @Test("without an agent is passed to the next agent, like one of an agent that is gone")
    func reachesTheNextAgent() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["width": 640, "height": 360])
            let path = "/screencapture/\(session.id)"
            #expect(try await relay.patch(path, ["bitrate": 750_000, "height": nil]).json["height"] == .null)
            let link = try await LinkClient(greeting: relay)
            let first = try await parameters(of: session.id, link)
            #expect(first.bitrate == 750_000)
            #expect(first.size == RequestedSize(width: 640))
            _ = try await relay.patch(path, ["fps": 12])
            try await link.close()
            try await relay.waitForState("away")
            let next = try await LinkClient(greeting: relay)
            let second = try await parameters(of: session.id, next)
            #expect(second.fps == 12)
            #expect(second.bitrate == 750_000)
            #expect(second.epoch == first.epoch)
        }
    }

    private func parameters(of session: SessionID, _ link: LinkClient) async throws -> SessionParameters {
        try await link.first { if case .sessionAdd(session, let parameters) = $0 { parameters } else { nil } }
    }
}
