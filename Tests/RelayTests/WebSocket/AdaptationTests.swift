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
            #expect(added.bitrate == 6_000_000 && added.burst == 170)
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

    /// Has a viewer acknowledge pictures until one of at least so many bytes comes: the first ones at once, later ones
    /// later and later.
    ///
    /// However late the first ones are on a busy machine, later ones are late beside them.
    ///
    /// - Parameter latest: The latest that one is acknowledged after it came.
    /// - Returns: The PTS of all.
    private static func watch(
        _ viewer: WebSocketClient,
        latest: Duration,
        until size: Int = .max
    ) async throws -> [Int64] {
        var times: [Int64] = []
        while true {
            let (pts, count) = try await viewer.first("a picture") { frame in
                frame.opcode == WebSocketClient.Opcode.binary && frame.payload[0] == 2
                    ? (Self.pts(frame), frame.payload.count) : nil
            }
            times.append(pts)
            if count >= size { return times }
            let pause = min(.milliseconds(100) * max(0, times.count - 20), latest)
            Task {
                try await Task.sleep(for: pause)
                try await viewer.send(#"{"type":"received","pts":\#(pts)}"#)
            }
        }
    }

    @Test(
        "gives a viewer of a slow connection smaller pictures if it follows the fastest, and the whole ones at its end"
    )
    func layers() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["adapt": "followFastest"])
            let link = try await LinkClient(greeting: relay)
            let (fast, slow) = (
                try await WebSocketClient(relay, session: session.id),
                try await WebSocketClient(relay, session: session.id)
            )
            try await relay.waitForViewers(2, of: session.id)
            let feeding = Self.feed(link, session.id)
            defer { feeding.cancel() }
            let watching = Task { try await Self.watch(fast, latest: .zero) }
            defer { watching.cancel() }
            // They come so late that it may be sent little. Those of the small layer are larger here, to be told apart.
            let starving = Task { try await Self.watch(slow, latest: .seconds(3), until: 1000) }
            let small: (SessionID, SessionParameters) = try await link.first { packet in
                if case .sessionAdd(let id, let parameters) = packet, id != session.id { (id, parameters) } else { nil }
            }
            #expect(small.1.bitrate == 3_000_000 && small.1.epoch > 0, "\(small)")
            let feedingSmall = Task {
                for number in 3000..<10_000 {
                    try await link.send([SampleStream.accessUnit(number, key: true, size: 2000)], session: small.0)
                    try await Task.sleep(for: .milliseconds(30))
                }
            }
            defer { feedingSmall.cancel() }
            let times = try await starving.value
            #expect(times == times.sorted() && Set(times).count == times.count)
            let report = try await relay.get("/screencapture/\(session.id)").json
            #expect(report["target"]?["smallSession"] == .integer(Int(small.0)) && report["viewers"] == 2, "\(report)")
            _ = try await relay.patch("/screencapture/\(session.id)", ["adapt": "fixed"])
            let back = try await relay.get("/screencapture/\(small.0)").json
            #expect(back["viewers"] == 0, "\(back)")
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
