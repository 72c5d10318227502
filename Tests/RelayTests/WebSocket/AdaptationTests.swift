import HeliographAPI
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A session whose bitrate follows its viewers")
struct AdaptationTests {
    /// Sends a picture each 30 ms, until the task is cancelled.
    private static func feed(_ link: LinkClient, _ session: SessionID) -> Task<Void, any Error> {
        Task {
            for number in 0..<10_000 {
                try await link.send([SampleStream.accessUnit(number, key: number % 30 == 0)], session: session)
                try await Task.sleep(for: .milliseconds(30))
            }
        }
    }

    /// Returns the next change of the bitrate that an agent gets.
    private static func update(_ link: LinkClient) async throws -> SessionUpdate {
        try await link.first { packet in
            if case .sessionUpdate(_, let update) = packet, update.bitrate != nil { update } else { nil }
        }
    }

    /// The PTS of a picture's message.
    private static func pts(_ frame: WebSocketClient.Frame) -> Int64 {
        frame.payload[4..<12].reduce(0) { $0 << 8 | Int64($1) }
    }

    @Test("is told to the agent and to viewers, and ends with the setting")
    func follows() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["adapt": "followSlowest", "minBitrate": 400_000])
            let link = try await LinkClient(greeting: relay)
            let added: SessionParameters = try await link.first { packet in
                if case .sessionAdd(_, let parameters) = packet { parameters } else { nil }
            }
            #expect(added.bitrate == 6_000_000 && added.burst == 150)
            let viewer = try await WebSocketClient(relay, session: session.id)
            let target = try await viewer.event("target")
            #expect(target["adapt"] == "followSlowest" && target["bitrate"] == 6_000_000 && target["fps"] == 30)
            try await relay.waitForViewers(1, of: session.id)
            let feeding = Self.feed(link, session.id)
            defer { feeding.cancel() }
            for _ in 0..<30 {
                let pts = try await viewer.first("a picture") { frame in
                    frame.opcode == WebSocketClient.Opcode.binary && frame.payload[0] == 2 ? Self.pts(frame) : nil
                }
                try await viewer.send(#"{"type":"received","pts":\#(pts)}"#)
            }
            let report = try await relay.get("/screencapture/\(session.id)").json
            #expect(report["target"]?["followed"] == 1)
            #expect(report["minBitrate"] == 400_000 && report["adapt"] == "followSlowest")
            // The relay hears of no more arrivals.
            let lowered = try await Self.update(link)
            #expect(lowered.bitrate ?? .max < 6_000_000, "\(lowered)")
            _ = try await viewer.first("a lower target") { frame -> Bool? in
                guard frame.json["type"] == "target", case .integer(let bitrate)? = frame.json["bitrate"] else {
                    return nil
                }
                return bitrate < 6_000_000 ? true : nil
            }
            _ = try await relay.patch("/screencapture/\(session.id)", ["adapt": "fixed"])
            let ended = try await link.first { packet -> SessionUpdate? in
                if case .sessionUpdate(_, let update) = packet, update.burst != nil { update } else { nil }
            }
            #expect(ended.bitrate == 6_000_000 && ended.burst == 500, "\(ended)")
            let after = try await relay.get("/screencapture/\(session.id)").json
            #expect(after["target"] == JSONValue.null)
            // It waits for nothing any more.
            guard case .integer(let newest)? = after["counters"]?["relay"]?["pictures"] else {
                throw NeverCame(description: "\(after)")
            }
            _ = try await viewer.first("a later picture") { frame -> Bool? in
                guard frame.opcode == WebSocketClient.Opcode.binary, frame.payload[0] == 2 else { return nil }
                return Self.pts(frame) > Int64(newest) * 33_333 ? true : nil
            }
        }
    }

    @Test("is not lowered for a viewer that acknowledges nothing")
    func silent() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["adapt": "followFastest"])
            let link = try await LinkClient(greeting: relay)
            let viewer = try await WebSocketClient(relay, session: session.id)
            try await relay.waitForViewers(1, of: session.id)
            let feeding = Self.feed(link, session.id)
            defer { feeding.cancel() }
            for _ in 0..<60 {
                _ = try await viewer.first("a picture") { frame in
                    frame.opcode == WebSocketClient.Opcode.binary && frame.payload[0] == 2 ? true : nil
                }
            }
            let target = try await relay.get("/screencapture/\(session.id)").json["target"]
            #expect(target?["followed"] == 0 && target?["bitrate"] == 6_000_000)
        }
    }
}
