import HeliographAPI
import Media
import NIOCore
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("Waiting for a part of a screen", .serialized)
struct ScreenWaitTests {
    private static let templates = "/v1/devices/default/templates"

    /// Runs a relay with an agent and a session without viewers.
    private func withSession(
        _ configure: (inout RelayConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningRelay, LinkClient, _ path: String) async throws -> Void
    ) async throws {
        try await RunningRelay.run(configure) { relay in
            let session = try await relay.startSession(["onDemand": true])
            let link = try await LinkClient(greeting: relay)
            try await body(relay, link, "/v1/sessions/\(session.id)/wait")
        }
    }

    private static func nextWatch(_ link: LinkClient) async throws -> (SessionID, Watch) {
        try await link.first { if case .watch(let id, let watch) = $0 { (id, watch) } else { nil } }
    }

    private static func box(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> PictureRegion {
        PictureRegion(x: x, y: y, width: width, height: height)
    }

    @Test("is the agent's to do, without an encoder, and says when and where")
    func happened() async throws {
        try await withSession { relay, link, path in
            async let answer = relay.get(
                "\(path)?until=static&for=2&region=10,20,300,40&ignore=10,20,5,5;90,20,1,1&tolerance=8&share=0.001"
            )
            let (id, watch) = try await Self.nextWatch(link)
            #expect(watch.goal == .static && watch.settled == 2000 && watch.tolerance == 8 && watch.share == 1000)
            #expect(watch.region == Self.box(10, 20, 300, 40))
            #expect(watch.ignored == [Self.box(10, 20, 5, 5), Self.box(90, 20, 1, 1)])
            #expect(try await relay.session(id)["state"] == "asleep", "nothing is encoded")
            let captured = NIODeadline.now().uptimeNanoseconds
            let report = WatchReport(
                id: watch.id,
                outcome: .happened(captured: captured, box: Self.box(11, 22, 3, 4))
            )
            try await link.send(.watched(id, report))
            let json = try await answer.json
            #expect(json["outcome"] == "happened" && json["until"] == "static", "\(json.text)")
            for (side, value) in ["x": 11, "y": 22, "width": 3, "height": 4] {
                #expect(json["box"]?[side] == .integer(value), "\(json.text)")
            }
            #expect(json["snapshot"] == .string("/v1/sessions/\(id)/snapshot.png"))
            guard case .integer(let pts)? = json["pts"] else {
                Issue.record("no PTS in \(json.text)")
                return
            }
            #expect(pts > 0)
        }
    }

    @Test("answers 200 when it does not happen in time, or nothing can tell, or the session ends")
    func others() async throws {
        try await withSession { relay, link, path in
            let late = try await relay.get("\(path)?until=changed&region=0,0,9,9&timeout=0.2")
            #expect(late.status == 200 && late.json["outcome"] == "timeout", "\(late.text)")
            let (_, watch) = try await Self.nextWatch(link)
            let ended: UInt32 = try await link.first { if case .unwatch(_, let id) = $0 { id } else { nil } }
            #expect(ended == watch.id, "the agent watches no more")
            try await link.send(.status(SourceStatus(state: .lost)))
            let blind = try await eventually("its loss") {
                let answer = try await relay.get("\(path)?until=changed&tolerance=1&timeout=0")
                return answer.json["outcome"] == "source_lost" ? answer : nil
            }
            #expect(blind.status == 200)
            let frames = try await relay.get("\(path)?until=static&timeout=0")
            #expect(frames.json["outcome"] == "source_lost" && frames.json["box"] == .null, "\(frames.text)")
            async let cut = relay.get("\(path)?until=changed&region=0,0,9,9")
            _ = try await link.first { packet -> Bool? in
                if case .watch(_, let watch) = packet { watch.region.width == 9 ? true : nil } else { nil }
            }
            _ = try await relay.post("/v1/sessions/stop", ["all": true])
            let end = try await cut
            #expect(end.status == 200 && end.json["outcome"] == "ended", "\(end.text)")
        }
    }

    @Test("has an id of its own among all sessions of the agent")
    func ids() async throws {
        try await withSession { relay, link, path in
            let other = try await relay.startSession(["onDemand": true])
            let query = "until=static&for=2&region=0,0,9,9&timeout=20"
            async let first = relay.get("\(path)?\(query)")
            let (id, watch) = try await Self.nextWatch(link)
            async let second = relay.get("/v1/sessions/\(other.id)/wait?\(query)")
            let (otherID, otherWatch) = try await Self.nextWatch(link)
            #expect(id != otherID && watch.id != otherWatch.id)
            let captured = NIODeadline.now().uptimeNanoseconds
            for (id, watch) in [(id, watch), (otherID, otherWatch)] {
                let outcome = WatchReport.Outcome.happened(captured: captured, box: Self.box(0, 0, 1, 1))
                try await link.send(.watched(id, WatchReport(id: watch.id, outcome: outcome)))
            }
            #expect(try await first.json["outcome"] == "happened")
            #expect(try await second.json["outcome"] == "happened")
        }
    }

    @Test("goes on with another agent, which begins anew")
    func switched() async throws {
        try await withSession { relay, link, path in
            let standby = try await LinkClient(greeting: relay, pid: 2, role: .standby)
            async let answer = relay.get("\(path)?until=changed&region=0,0,9,9")
            let (_, first) = try await Self.nextWatch(link)
            try await link.close()
            let (id, second) = try await Self.nextWatch(standby)
            let again = try await LinkClient(greeting: relay, pid: 3)
            let (_, third) = try await Self.nextWatch(again)
            // So that an answer to a former order is not taken for one to this.
            #expect(Set([first.id, second.id, third.id]).count == 3)
            for watch in [second, third] {
                var anew = first
                anew.id = watch.id
                #expect(watch == anew)
            }
            let outcome = WatchReport.Outcome.happened(captured: 1, box: Self.box(0, 0, 1, 1))
            // It no longer watches.
            try await standby.send(.watched(id, WatchReport(id: third.id, outcome: .refusal(.outside))))
            let _: UInt32 = try await standby.first { if case .unwatch(_, let id) = $0 { id } else { nil } }
            try await again.send(.watched(id, WatchReport(id: third.id, outcome: outcome)))
            #expect(try await answer.json["outcome"] == "happened")
        }
    }

    @Test("compares with templates, which are uploaded by name")
    func template() async throws {
        try await withSession { relay, link, path in
            let unknown = try await relay.get("\(path)?until=matches&template=dialog&at=4,5")
            #expect(unknown.status == 404 && unknown.code == "unknown_template", "\(unknown.text)")
            let png = PNG.make(width: 30, height: 20)
            let put = try await relay.call(.PUT, "\(Self.templates)/dialog", body: png)
            #expect(put.status == 200 && put.json["width"] == 30 && put.json["height"] == 20, "\(put.text)")
            async let answer = relay.get("\(path)?until=matches&template=dialog&at=4,5&share=0.5")
            let (id, watch) = try await Self.nextWatch(link)
            #expect(watch.goal == .matches && watch.template == png && watch.share == 500_000)
            #expect(watch.region.x == 4 && watch.region.y == 5)
            try await link.send(.watched(id, WatchReport(id: watch.id, outcome: .refusal(.brokenTemplate))))
            let broken = try await answer
            #expect(broken.status == 400 && broken.code == "bad_template", "\(broken.text)")
            async let outside = relay.get("\(path)?until=gone&template=dialog&at=4,5")
            let (_, second) = try await Self.nextWatch(link)
            try await link.send(.watched(id, WatchReport(id: second.id, outcome: .refusal(.outside))))
            #expect(try await outside.code == "out_of_range")
            for (bytes, code) in [
                ([UInt8]("GIF".utf8), "bad_template"), (PNG.make(width: 8193, height: 1), "bad_template"),
                (png + [UInt8](repeating: 0, count: 1 << 20), "body_too_large"),
            ] {
                let refused = try await relay.call(.PUT, "\(Self.templates)/other", body: bytes)
                #expect(refused.code == code, "\(refused.text)")
            }
            let list = try await relay.get(Self.templates).json["templates"]?.elements ?? []
            #expect(list.map { $0["name"] } == ["dialog"])
            for isThere in [true, false] {
                let deleted = try await relay.call(.DELETE, "\(Self.templates)/dialog")
                #expect(deleted.json["deleted"] == .bool(isThere), "\(deleted.text)")
            }
        }
    }

    @Test("has a number of places, which clients that leave give back; one too many is no reason to try again")
    func places() async throws {
        try await withSession {
            $0.devices[0].maximumViewers = 1
        } _: { relay, link, path in
            let client = try await ByteClient(port: relay.ports.http)
            try await client.send(
                Array("GET \(path)?until=changed&region=0,0,9,9 HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
            )
            _ = try await Self.nextWatch(link)
            let refused = try await relay.get("\(path)?until=changed&region=0,0,9,9&timeout=0")
            #expect(refused.status == 409 && refused.code == "too_many_waits", "\(refused.text)")
            #expect(refused.headers["retry-after"].isEmpty)
            try await client.close()
            _ = try await eventually("a free place", limit: .seconds(30)) {
                try await relay.get("\(path)?until=changed&region=0,0,9,9&timeout=0").status == 200 ? true : nil
            }
        }
    }

    @Test("sends a space now and then while it takes long")
    func spaces() async throws {
        try await withSession { relay, link, path in
            let answer = try await relay.get("\(path)?until=changed&region=0,0,9,9&timeout=16")
            #expect(answer.status == 200 && answer.text.hasPrefix(" {"), "\(answer.text)")
            #expect(answer.json["outcome"] == "timeout")
            withExtendedLifetime(link) {}
        }
    }

    @Test("with large templates leaves the agent's link as it is, however many wait at once")
    func largeTemplates() async throws {
        try await withSession { relay, link, path in
            let template = "/v1/devices/default/templates/large"
            let image = PNG.make(width: 500, height: 500)
            #expect(try await relay.call(.PUT, template, body: image).status == 200)
            try await withThrowingTaskGroup { group in
                for _ in 0..<16 {
                    group.addTask { try await relay.get("\(path)?until=matches&template=large&at=0,0&timeout=2") }
                }
                for try await answer in group { #expect(answer.json["outcome"] == "timeout", "\(answer.text)") }
            }
            #expect(try await relay.broadcast()["state"] == "live")
            withExtendedLifetime(link) {}
        }
    }

    @Test("is answered at once to HEAD, which has no body for what comes of it")
    func head() async throws {
        try await withSession { relay, link, path in
            let answer = try await relay.call(.HEAD, "\(path)?until=changed&region=0,0,9,9&timeout=600")
            #expect(answer.status == 200)
            withExtendedLifetime(link) {}
        }
    }

    @Test("is asked for strictly")
    func arguments() async throws {
        try await withSession { relay, _, path in
            for (query, code, field) in [
                ("", "missing_field", "until"), ("until=matches", "missing_field", "template"),
                ("until=gone&template=a", "missing_field", "at"), ("until=changed&at=1,2", "unknown_field", "at"),
                ("until=static&template=a", "unknown_field", "template"),
                ("until=matches&template=a&at=1,2&for=1", "unknown_field", "for"),
                ("until=changed&after=1&region=0,0,9,9", "unknown_field", "after"),
                ("until=changed&region=0,0,9", "unknown_value", "region"),
                ("until=changed&region=0,0,9,0", "unknown_value", "region"),
                ("until=changed&region=0,0,9,99999", "unknown_value", "region"),
                ("until=changed&ignore=0,0,9,9;", "unknown_value", "ignore"),
                ("until=changed&tolerance=256", "out_of_range", "tolerance"),
                ("until=changed&share=1.1", "out_of_range", "share"),
                ("until=matches&template=a&at=1", "unknown_value", "at"),
            ] {
                let answer = try await relay.get("\(path)?\(query)")
                #expect(answer.status == 400 && answer.code == code, "\(query): \(answer.text)")
                #expect(answer.json["field"] == .string(field), "\(query): \(answer.text)")
            }
        }
    }
}
