import HeliographAPI
import Media
import NIOCore
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A snapshot", .serialized)
struct SnapshotTests {
    private static func picture(_ format: SnapshotFormat, _ bytes: [UInt8], captured: UInt64 = 1) -> Snapshot.Outcome {
        .picture(
            Snapshot.Picture(
                format: format,
                captured: captured,
                orientation: 1,
                size: PictureSize(width: 640, height: 360),
                bytes: bytes
            )
        )
    }

    /// Runs a relay with a session that an agent feeds.
    private func withFeed(
        _ configure: (inout RelayConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningRelay, LinkClient, SessionID) async throws -> Void
    ) async throws {
        try await RunningRelay.run(configure) { relay in
            // A session that repeats would soon lack its pictures.
            let session = try await relay.startSession(["repeat": false])
            let link = try await LinkClient(greeting: relay)
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            try await relay.waitForPicture(of: session.id)
            try await body(relay, link, session.id)
        }
    }

    private func nextRequest(_ link: LinkClient) async throws -> SnapshotRequest {
        try await link.first { packet in
            if case .snapshotRequest(_, let request) = packet { request } else { nil }
        }
    }

    private func answer(_ request: SnapshotRequest, of id: SessionID, _ outcome: Snapshot.Outcome, on link: LinkClient)
        async throws
    {
        try await link.send(.snapshot(id, Snapshot(request: request.id, outcome: outcome)))
    }

    @Test("is asked of the agent in its format, and says where and when it is from", arguments: SnapshotFormat.allCases)
    func formats(_ format: SnapshotFormat) async throws {
        try await withFeed { relay, link, id in
            let name = format == .jpeg ? "jpg" : "png"
            async let answer = relay.get("/screencapture/\(id)/snapshot.\(name)")
            let request = try await nextRequest(link)
            #expect(request.format == format && !request.isFresh)
            try await self.answer(request, of: id, Self.picture(format, [1, 2, 3]), on: link)
            let snapshot = try await answer
            #expect(snapshot.status == 200 && snapshot.body == [1, 2, 3])
            #expect(snapshot.headers["content-type"] == [format == .jpeg ? "image/jpeg" : "image/png"])
            #expect(snapshot.headers["cache-control"] == ["no-store"])
            #expect(snapshot.headers["heliograph-orientation"] == ["1"])
            #expect(snapshot.headers["heliograph-pts"].first.flatMap { Int($0) } != nil)
            #expect(snapshot.headers["heliograph-captured"].first?.hasSuffix("Z") == true)
            async let headers = relay.call(.HEAD, "/screencapture/\(id)/snapshot.\(name)?fresh=true")
            try await self.answer(try await nextRequest(link), of: id, Self.picture(format, [1, 2, 3]), on: link)
            let head = try await headers
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(head.headers["content-length"] == ["3"])
            let post = try await relay.post("/screencapture/\(id)/snapshot.\(name)")
            #expect(post.status == 405 && post.headers["allow"] == ["GET, HEAD"])
        }
    }

    @Test("is shared by simultaneous requests, and by requests within a second")
    func shared() async throws {
        try await withFeed { relay, link, id in
            try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<20 {
                    group.addTask { try await relay.get("/screencapture/\(id)/snapshot.jpg").body }
                }
                let request = try await nextRequest(link)
                try await answer(request, of: id, Self.picture(.jpeg, [7]), on: link)
                // A request that comes after a second, on a slow machine, gets another one.
                group.addTask {
                    while true {
                        let late = try await nextRequest(link)
                        try await answer(late, of: id, Self.picture(.jpeg, [8]), on: link)
                    }
                }
                for _ in 0..<20 {
                    let body = try await group.next()
                    #expect(body == [7] || body == [8])
                }
                group.cancelAll()
                try await link.close()
            }
            let metrics = try await relay.get("/metrics").text
            let line = metrics.split(separator: "\n").first {
                $0.hasPrefix("heliograph_session_snapshots_requested_total")
            }
            let requests = try #require(line?.split(separator: " ").last.flatMap { Int($0) })
            #expect(requests < 5)
        }
    }

    @Test("a fresh one is never one that was requested earlier")
    func fresh() async throws {
        try await withFeed { relay, link, id in
            async let first = relay.get("/screencapture/\(id)/snapshot.jpg")
            let request = try await nextRequest(link)
            // While it is under way.
            async let second = relay.get("/screencapture/\(id)/snapshot.jpg?fresh=true")
            try await Task.sleep(for: .milliseconds(100))
            try await answer(request, of: id, Self.picture(.jpeg, [1]), on: link)
            let firstBody = try await first.body
            #expect(firstBody == [1])
            let next = try await nextRequest(link)
            #expect(next.isFresh && next.id != request.id)
            // The answer to a finished request is ignored.
            try await answer(request, of: id, Self.picture(.jpeg, [9]), on: link)
            try await answer(next, of: id, Self.picture(.jpeg, [2]), on: link)
            let body = try await second.body
            #expect(body == [2])
        }
    }

    @Test("an unavailable one is a problem with its cause")
    func refusals() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let nothing = try await relay.get("/screencapture/\(session.id)/snapshot.jpg")
            #expect(nothing.status == 503 && nothing.code == "no_picture" && nothing.json["cause"] == "no_source")
            #expect(nothing.headers["retry-after"] == ["5"])
            let unknown = try await relay.get("/screencapture/99/snapshot.png")
            #expect(unknown.status == 404 && unknown.code == "unknown_session")
            for query in ["fresh=1", "fresh=yes", "width=15"] {
                let wrong = try await relay.get("/screencapture/\(session.id)/snapshot.jpg?\(query)")
                #expect(wrong.status == 400, "\(query)")
            }
            for rate in ["0", "31", "x", "1.5"] {
                let wrong = try await relay.get("/screencapture/\(session.id)/stream.mjpeg?fps=\(rate)")
                #expect(wrong.status == 400 && wrong.json["field"] == "fps", "\(rate)")
            }
        }
        try await withFeed { relay, link, id in
            let causes: [(Snapshot.Refusal, JSONValue)] = [
                (.noFrame, "no_frame"), (.unreadable, "dma_buf"), (.tooLarge, "too_large"), (.busy, "busy"),
                (.failed, "failed"), (.unknownSession, "unknown_session"),
            ]
            for (refusal, cause) in causes {
                async let answer = relay.get("/screencapture/\(id)/snapshot.jpg")
                let request = try await nextRequest(link)
                try await self.answer(request, of: id, .refusal(refusal), on: link)
                let problem = try await answer
                #expect(problem.status == 503 && problem.json["cause"] == cause)
            }
            // An agent that sends another format than requested.
            async let answer = relay.get("/screencapture/\(id)/snapshot.png")
            let request = try await nextRequest(link)
            try await self.answer(request, of: id, Self.picture(.jpeg, [1]), on: link)
            let problem = try await answer
            #expect(problem.status == 503 && problem.json["cause"] == "failed")
        }
    }

    @Test("a fresh one is refused while the source is lost; the last picture is still available")
    func sourceLost() async throws {
        try await withFeed { relay, link, id in
            try await link.send(.status(SourceStatus(state: .lost)))
            _ = try await eventually("no source") { try await relay.session(id)["feed"] == "none" ? true : nil }
            let fresh = try await relay.get("/screencapture/\(id)/snapshot.jpg?fresh=true")
            #expect(fresh.status == 503 && fresh.json["cause"] == "source_lost")
            async let last = relay.get("/screencapture/\(id)/snapshot.jpg")
            try await answer(try await nextRequest(link), of: id, Self.picture(.jpeg, [4]), on: link)
            let body = try await last.body
            #expect(body == [4])
        }
    }

    @Test("of a sleeping session wakes it and is fresh, one for all waiting requests")
    func asleep() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["onDemand": true])
            let path = "/screencapture/\(session.id)/snapshot"
            let nobody = try await relay.get("\(path).jpg")
            #expect(nobody.status == 503 && nobody.json["cause"] == "no_source", "no agent is there to wake")
            let link = try await LinkClient(greeting: relay)
            #expect(try await relay.session(session.id)["asleep"] == true)
            async let first = relay.get("\(path).jpg")
            async let second = relay.get("\(path).png")
            try await link.wait(for: session.id, isActive: true)
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            for number in 1...2 {
                let request = try await nextRequest(link)
                // The other may have come while it was awake.
                if number == 1 { #expect(request.isFresh) }
                try await answer(request, of: session.id, Self.picture(request.format, [1]), on: link)
            }
            let bodies = [try await first.body, try await second.body]
            #expect(bodies == [[1], [1]])
            // It sleeps again.
            try await link.wait(for: session.id, isActive: false)
            #expect(try await relay.session(session.id)["asleep"] == true)
            // One whose agent disappears meanwhile.
            async let third = relay.get("\(path).jpg")
            try await link.wait(for: session.id, isActive: true)
            try await link.close()
            let lost = try await third
            #expect(lost.status == 503 && lost.json["cause"] == "no_source")
        }
    }

    @Test("of a session that has just begun waits for its first picture")
    func firstPicture() async throws {
        try await RunningRelay.run { relay in
            let link = try await LinkClient(greeting: relay)
            let session = try await relay.startSession()
            async let snapshot = relay.get("/screencapture/\(session.id)/snapshot.jpg?fresh=true")
            // The call is there before the picture.
            try await Task.sleep(for: .milliseconds(200))
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            try await answer(try await nextRequest(link), of: session.id, Self.picture(.jpeg, [1]), on: link)
            let body = try await snapshot.body
            #expect(body == [1])
            try await link.close()
        }
    }

    @Test("of a session that no agent wakes in time is a problem")
    func neverWakes() async throws {
        try await RunningRelay.run { relay in
            // An agent that connects later is told about sessions one after another.
            let link = try await LinkClient(greeting: relay)
            let session = try await relay.startSession(["onDemand": true])
            let answer = try await relay.get("/screencapture/\(session.id)/snapshot.jpg")
            #expect(answer.status == 504 && answer.code == "snapshot_timeout", "\(answer.text)")
            try await link.close()
        }
    }

    @Test("is not waited for longer than its agent, its session and 5 s last")
    func endings() async throws {
        try await withFeed { relay, link, id in
            async let silent = relay.get("/screencapture/\(id)/snapshot.jpg")
            _ = try await nextRequest(link)
            let timeout = try await silent
            #expect(timeout.status == 504 && timeout.code == "snapshot_timeout")
            async let abandoned = relay.get("/screencapture/\(id)/snapshot.jpg")
            _ = try await nextRequest(link)
            try await link.close()
            let lost = try await abandoned
            #expect(lost.status == 503 && lost.json["cause"] == "no_source")
        }
        try await withFeed { relay, link, id in
            async let first = relay.get("/screencapture/\(id)/snapshot.jpg")
            _ = try await nextRequest(link)
            async let second = relay.get("/screencapture/\(id)/snapshot.jpg?fresh=true")
            try await Task.sleep(for: .milliseconds(100))
            _ = try await relay.post("/screencapture/\(id)/stop")
            let codes = [try await first.code, try await second.code]
            #expect(codes == ["unknown_session", "unknown_session"])
        }
    }

    @Test("as many as viewers may wait, and no more")
    func bounded() async throws {
        try await withFeed {
            $0.devices[0].maximumViewers = 2
        } _: { relay, link, id in
            async let first = relay.get("/screencapture/\(id)/snapshot.jpg")
            async let second = relay.get("/screencapture/\(id)/snapshot.png")
            let requests = [try await nextRequest(link), try await nextRequest(link)]
            let third = try await relay.get("/screencapture/\(id)/snapshot.jpg")
            #expect(third.status == 503 && third.code == "too_many_viewers")
            for request in requests {
                try await answer(request, of: id, Self.picture(request.format, [5]), on: link)
            }
            let bodies = [try await first.body, try await second.body]
            #expect(bodies == [[5], [5]])
        }
    }

    @Test("an order of another agent's session could not come from this agent")
    func othersSession() async throws {
        try await RunningRelay.run {
            $0.devices.append(DeviceConfiguration(name: "other"))
        } _: { relay in
            let session = try await relay.startSession(["device": "default"])
            let link = try await LinkClient(greeting: relay)
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            let stranger = try await LinkClient(greeting: relay, device: "other")
            try await relay.waitForPicture(of: session.id)
            async let snapshot = relay.get("/screencapture/\(session.id)/snapshot.jpg")
            let request = try await nextRequest(link)
            try await answer(request, of: session.id, Self.picture(.jpeg, [6, 6]), on: stranger)
            try await Task.sleep(for: .milliseconds(100))
            try await answer(request, of: session.id, Self.picture(.jpeg, [1]), on: link)
            let body = try await snapshot.body
            #expect(body == [1])
        }
    }
}
