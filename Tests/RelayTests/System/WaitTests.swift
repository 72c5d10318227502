import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("Waiting for a screen", .serialized)
struct WaitTests {
    private static func picture(_ number: Int, isRepeat: Bool = false, key: Bool = false) -> AccessUnit {
        var unit = SampleStream.accessUnit(number, key: key)
        unit.captured = isRepeat ? 1 : UInt64(number) + 1
        if isRepeat { unit.flags.insert(.repeat) }
        return unit
    }

    /// Runs a relay with a session that an agent feeds. Its first picture, with PTS 0, has arrived.
    private func withFeed(
        _ session: JSONValue = [:],
        _ configure: (inout RelayConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningRelay, LinkClient, SessionID) async throws -> Void
    ) async throws {
        try await RunningRelay.run(configure) { relay in
            let session = try await relay.startSession(session)
            let link = try await LinkClient(greeting: relay)
            try await link.send([Self.picture(0, key: true)], session: session.id)
            try await relay.waitForPicture(of: session.id)
            try await body(relay, link, session.id)
        }
    }

    /// Sends pictures one after another until `call` is answered.
    private func answer(
        whileSendingTo link: LinkClient,
        session: SessionID,
        _ picture: @escaping @Sendable (Int) -> AccessUnit,
        _ call: @escaping @Sendable () async throws -> RunningRelay.Answer
    ) async throws -> RunningRelay.Answer {
        try await withThrowingTaskGroup(of: RunningRelay.Answer?.self) { group in
            group.addTask {
                for number in 1... {
                    try await link.send([picture(number)], session: session)
                    try await Task.sleep(for: .milliseconds(20))
                    if Task.isCancelled { break }
                }
                return nil
            }
            group.addTask { try await call() }
            defer { group.cancelAll() }
            guard let answer = try await group.next() as? RunningRelay.Answer else {
                throw NeverCame(description: "an answer")
            }
            return answer
        }
    }

    @Test(
        "and streams take no body, which nobody would read",
        arguments: ["wait?until=changed", "stream.h264", "stream.mjpeg"]
    )
    func body(path: String) async throws {
        try await withFeed { relay, _, id in
            for field in ["Content-Length: 9", "Transfer-Encoding: chunked"] {
                let client = try await ByteClient(port: relay.ports.http)
                let head = "GET /screencapture/\(id)/\(path) HTTP/1.1\r\nHost: localhost\r\n\(field)\r\n\r\n"
                try await client.send(Array(head.utf8))
                let answer = String(decoding: try await client.read(12), as: UTF8.self)
                #expect(answer.hasPrefix("HTTP/1.1 400"), "\(answer)")
                try await client.close()
            }
            try await relay.waitForViewers(0, of: id)
        }
    }

    @Test("for a change is over with the first new frame, which it names")
    func changed() async throws {
        try await withFeed { relay, link, id in
            let answer = try await answer(whileSendingTo: link, session: id, { Self.picture($0) }) {
                try await relay.get("/screencapture/\(id)/wait?until=changed")
            }
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.json["id"] == .integer(Int(id)) && answer.json["until"] == "changed")
            guard case .integer(let pts) = answer.json["pts"] else {
                Issue.record("no PTS in \(answer.text)")
                return
            }
            #expect(pts > 0 && pts % 33_333 == 0)
            // After a picture that came before the call, too.
            let earlier = try await relay.get("/screencapture/\(id)/wait?until=changed&after=0&timeout=0")
            #expect(earlier.status == 200, "\(earlier.text)")
            #expect(answer.json["waitedMs"] != nil && answer.json["staticMs"] != nil && answer.json["at"] != nil)
        }
    }

    @Test("for a change may ask for a static screen after it, and for a static one that it is of a later picture")
    func settled() async throws {
        try await withFeed { relay, link, id in
            // The screen is static from the first picture on, whose PTS is 0.
            let old = try await relay.get("/screencapture/\(id)/wait?until=static&for=0&after=0&timeout=0.2")
            #expect(old.status == 504, "\(old.text)")
            let moving = try await answer(whileSendingTo: link, session: id, { Self.picture($0) }) {
                try await relay.get("/screencapture/\(id)/wait?until=changed&for=20&timeout=0.5")
            }
            #expect(moving.status == 504, "\(moving.text)")
            for path in ["until=changed&after=0&for=0.3", "until=static&after=0&for=0.3"] {
                let settled = try await relay.get("/screencapture/\(id)/wait?\(path)")
                #expect(settled.status == 200, "\(settled.text)")
                if case .integer(let pts) = settled.json["pts"] { #expect(pts > 0) } else { Issue.record("no PTS") }
            }
        }
    }

    @Test("for a change is not over with repeats")
    func repeats() async throws {
        try await withFeed { relay, link, id in
            let answer = try await answer(whileSendingTo: link, session: id, { Self.picture($0, isRepeat: true) }) {
                try await relay.get("/screencapture/\(id)/wait?until=changed&timeout=0.5")
            }
            #expect(answer.status == 504 && answer.code == "wait_timeout" && answer.json["feed"] == "primary")
        }
    }

    @Test("that is static ends after that time, with repeats or without")
    func staticScreen() async throws {
        // At 1 fps, a busy machine may pause the agent for seconds before the relay takes its feed for lost.
        try await withFeed(["fps": 1]) { relay, link, id in
            for pictures in [true, false] {
                let call: @Sendable () async throws -> RunningRelay.Answer = {
                    try await relay.get("/screencapture/\(id)/wait?until=static&for=0.3")
                }
                let answer =
                    pictures
                    ? try await answer(
                        whileSendingTo: link,
                        session: id,
                        { Self.picture($0, isRepeat: true) },
                        call
                    ) : try await call()
                #expect(answer.status == 200 && answer.json["pts"] == 0, "\(answer.text)")
                switch answer.json["staticMs"] {
                case .number(let time): #expect(time >= 300)
                case .integer(let time): #expect(time >= 300)
                default: Issue.record("no time in \(answer.text)")
                }
            }
            // The agent's source is gone, so nothing tells what the screen shows.
            try await link.send(.status(SourceStatus(state: .lost)))
            _ = try await eventually("its loss") {
                try await relay.session(id)["feed"] == "none" ? true : nil
            }
            let answer = try await relay.get("/screencapture/\(id)/wait?until=static&for=0&timeout=0.2")
            #expect(answer.status == 504 && answer.json["feed"] == "none")
        }
    }

    @Test("takes one of a number of places, until its client leaves or the session ends")
    func places() async throws {
        try await withFeed([:], { $0.devices[0].maximumViewers = 1 }) { relay, _, id in
            let path = "/screencapture/\(id)/wait?until=changed&timeout=600"
            func probe() async throws -> Int {
                try await relay.get("/screencapture/\(id)/wait?until=changed&timeout=0").status
            }
            func ask() async throws -> ByteClient {
                let client = try await ByteClient(port: relay.ports.http)
                try await client.send(Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                try await Task.sleep(for: .milliseconds(50))
                return client
            }
            var client = try await ask()
            // If a probe had the only place when it came, it comes again.
            for _ in 0..<100 where try await probe() != 503 {
                try? await client.close()
                client = try await ask()
            }
            #expect(try await probe() == 503)
            try await client.close()
            _ = try await eventually("a free place") { try await probe() == 504 ? true : nil }
            async let answer = relay.get(path)
            // Long enough for the call to wait, usually. A probe could take its place; the answer is the same either
            // way.
            try await Task.sleep(for: .milliseconds(300))
            _ = try await relay.post("/screencapture/\(id)/stop")
            let end = try await answer
            #expect(end.status == 404 && end.code == "unknown_session")
        }
    }

    @Test("keeps the session, and has one encode that does so on demand")
    func demand() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["ttl": 1, "onDemand": true])
            let link = try await LinkClient(greeting: relay)
            async let answer = relay.get("/screencapture/\(session.id)/wait?until=changed&timeout=3")
            try await link.wait(for: session.id, isActive: true)
            let end = try await answer
            #expect(end.status == 504, "\(end.text)")
        }
    }

    @Test("is asked for strictly")
    func arguments() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            for (query, code) in [
                ("", "missing_field"), ("until=moved", "unknown_value"), ("until=changed&for=601", "out_of_range"),
                ("until=static&for=601", "out_of_range"), ("until=static&timeout=-1", "out_of_range"),
                ("until=static&timeout=x", "wrong_type"), ("until=static&after=-1", "out_of_range"),
                ("until=changed&after=-1", "out_of_range"), ("until=changed&after=1.5", "wrong_type"),
            ] {
                let answer = try await relay.get("/screencapture/\(session.id)/wait?\(query)")
                #expect(answer.status == 400 && answer.code == code, "\(query): \(answer.text)")
            }
            let unknown = try await relay.get("/screencapture/99/wait?until=static")
            #expect(unknown.status == 404 && unknown.code == "unknown_session")
        }
    }
}
