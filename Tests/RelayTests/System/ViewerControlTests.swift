import Access
import HeliographAPI
import NIOCore
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A viewer that acts on the screen", .serialized)
struct ViewerControlTests {
    private typealias Opcode = WebSocketClient.Opcode

    private static let everything = InputCapabilities(backend: "wlroots", pointer: true, keyboard: true, touch: true)
    private static let claim: [UInt8] = [1, 1, 0, 0]
    private static let take: [UInt8] = [1, 2, 0, 0]
    private static let leave: [UInt8] = [1, 0, 0, 0]
    private static let keyDown: [UInt8] = [8, 1, 0, 0, 0, 0, 0, 0x61]
    private static let keyUp: [UInt8] = [8, 0, 0, 0, 0, 0, 0, 0x61]

    /// Runs a relay with an agent that can act, and a session.
    private func withAgent(
        keys: Keys? = nil,
        log: LogRecorder? = nil,
        _ body: @escaping @Sendable (RunningRelay, LinkClient, SessionID) async throws -> Void
    ) async throws {
        try await RunningRelay.run(log: log) {
            $0.keysFile = keys?.file.path
        } _: { relay in
            let link = try await LinkClient(greeting: relay)
            try await link.send(.inputs(Self.everything))
            let key = try keys?.make("operator", .operator)
            try await relay.waitForCapabilities(key: key)
            let answer = try await relay.call(.POST, "/screencapture/start", key: key, body: Array("{}".utf8))
            guard case .integer(let id) = answer.json["id"] else { throw NeverCame(description: answer.text) }
            try await body(relay, link, SessionID(id))
        }
    }

    private func viewer(_ relay: RunningRelay, _ session: SessionID, key: APIKey? = nil) async throws -> WebSocketClient
    {
        let headers = key.map { ["Authorization": "Bearer \($0.text)"] } ?? [:]
        return try await WebSocketClient(relay, session: session, headers: headers)
    }

    /// Waits for the event `control` that fulfils a condition.
    @discardableResult
    private func control(
        _ viewer: WebSocketClient,
        _ what: String,
        _ condition: (JSONValue) -> Bool
    ) async throws -> JSONValue {
        try await viewer.first(what) { frame in
            frame.opcode == Opcode.text && frame.json["type"] == "control" && condition(frame.json)
                ? .some(frame.json) : .none
        }
    }

    private static func order(_ link: LinkClient) async throws -> (session: SessionID, order: InputOrder) {
        try await link.first { if case .input(let id, let order) = $0 { (id, order) } else { nil } }
    }

    /// Answers the next order, and returns its steps.
    @discardableResult
    private static func answer(_ link: LinkClient, _ outcome: InputReport.Outcome = .done(began: 1, at: 1)) async throws
        -> [InputStep]
    {
        let (session, order) = try await order(link)
        try await link.send(.inputDone(session, InputReport(id: order.id, outcome: outcome)))
        return order.steps
    }

    @Test("is told what it may do, asks for control, acts in order, and leaves")
    func acts() async throws {
        let log = LogRecorder()
        try await withAgent(log: log) { relay, link, session in
            let viewer = try await viewer(relay, session)
            let first = try await viewer.event("control")
            #expect(first["version"] == 1 && first["may"] == true && first["why"] == .null, "\(first.text)")
            #expect(first["mine"] == false && first["controller"] == .null && first["ended"] == .null)
            #expect(first["input"]?["backend"] == "wlroots")
            try await viewer.control()
            #expect(try await relay.broadcast()["controller"] == "local")

            try await viewer.send(Opcode.binary, [5, 0, 1, 0, 0, 0, 0, 9, 0, 1, 0x80, 0, 0, 2, 0, 0])
            let (id, order) = try await Self.order(link)
            #expect(id == session && order.geometry == 9)
            #expect(order.steps == [.pointer(x: 1.5, y: 2), .button(0x110, isDown: true)])
            try await link.send(.inputDone(id, InputReport(id: order.id, outcome: .done(began: 1, at: 1))))
            for (bytes, steps): ([UInt8], [InputStep]) in [
                (Self.keyDown, [.key(keysym: 0x61, isDown: true)]), (Self.keyUp, [.key(keysym: 0x61, isDown: false)]),
                ([9, 0, 0, 0] + Array("secret".utf8), [.text("secret")]),
            ] {
                try await viewer.send(Opcode.binary, bytes)
                #expect(try await Self.answer(link) == steps)
            }
            try await viewer.send(Opcode.binary, Self.leave)
            #expect(try await Self.answer(link) == [.button(0x110, isDown: false)])
            try await control(viewer, "the end of control") { $0["mine"] == false && $0["controller"] == .null }
            #expect(try await relay.broadcast()["controller"] == .null)
        }
        let lines = log.lines.filter { $0.metadata["call"]?.contains("control by hand") == true }
        #expect(lines.map { $0.metadata["call"] ?? "" } == ["control by hand begun", "control by hand ended"])
        #expect(lines.last?.metadata["events"] == "4" && !"\(log.lines)".contains("secret"), "\(lines)")
    }

    @Test("releases what it holds when its connection ends, and after 2 s without a message")
    func release() async throws {
        try await withAgent { relay, link, session in
            var viewer = try await viewer(relay, session)
            try await viewer.control()
            try await viewer.send(Opcode.binary, Self.keyDown)
            try await Self.answer(link)
            let began = ContinuousClock.now
            #expect(try await Self.answer(link) == [.key(keysym: 0x61, isDown: false)])
            let waited = ContinuousClock.now - began
            #expect(waited > .seconds(1.8), "\(waited)")

            try await viewer.send(Opcode.binary, Self.keyDown)
            try await Self.answer(link)
            let closed = ContinuousClock.now
            try await viewer.close()
            #expect(try await Self.answer(link) == [.key(keysym: 0x61, isDown: false)])
            // Not because nothing came for so long.
            #expect(ContinuousClock.now - closed < .seconds(1.8))
            _ = try await eventually("no controller") {
                try await relay.broadcast()["controller"] == .null ? true : nil
            }

            viewer = try await self.viewer(relay, session)
            try await viewer.control()
            try await viewer.send(Opcode.binary, Self.keyDown)
            try await Self.answer(link)
            async let stopped = relay.post("/screencapture/stop")
            let (id, order) = try await Self.order(link)
            #expect(order.steps == [.key(keysym: 0x61, isDown: false)])
            #expect(id == 0, "the session is gone")
            _ = try await stopped
        }
    }

    @Test("needs a key with the role controller, and nothing comes of what others send")
    func rights() async throws {
        let keys = try Keys()
        let (looker, one) = (try keys.make("looker", .viewer), try keys.make("one", .controller))
        try await withAgent(keys: keys) { relay, link, session in
            let other = try await viewer(relay, session, key: looker)
            let told = try await other.event("control")
            #expect(told["may"] == false && told["why"]?.text.contains("viewer") == true, "\(told.text)")
            for bytes in [Self.claim, Self.take, Self.keyDown, [9, 0, 0, 0, 65], [10, 0, 0, 0]] {
                try await other.send(Opcode.binary, bytes)
            }
            let refused = try await other.event("refused")
            #expect(refused["reason"] == "forbidden", "\(refused.text)")
            // The first order is the other's.
            let viewer = try await viewer(relay, session, key: one)
            try await viewer.send(Opcode.binary, Self.keyDown)
            #expect(try await viewer.event("refused")["reason"] == "not_controlling")
            try await viewer.control()
            try await viewer.send(Opcode.binary, [8, 1, 0, 0, 0, 0, 0, 0x62])
            #expect(try await Self.answer(link) == [.key(keysym: 0x62, isDown: true)])
            try await control(other, "the other's control") { $0["controller"] == "one" && $0["mine"] == false }
            // Its key is revoked: the connection ends, and with it what it holds.
            try keys.revoke("one")
            #expect(try await Self.answer(link) == [.key(keysym: 0x62, isDown: false)])
        }
    }

    @Test("without keys, a proxy's callers may look only")
    func proxied() async throws {
        try await withAgent { relay, _, session in
            for header in ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"] {
                let viewer = try await WebSocketClient(relay, session: session, headers: [header: "127.0.0.1"])
                let told = try await viewer.event("control")
                #expect(told["may"] == false && told["why"]?.text.contains("proxy") == true, "\(told.text)")
                try await viewer.close()
            }
            let other = try await WebSocketClient(relay, session: session, headers: ["Sec-Fetch-Site": "cross-site"])
            #expect(try await other.event("control")["may"] == false)
        }
    }

    @Test("loses control to a caller that takes it, and what it holds is released before")
    func takenOver() async throws {
        let keys = try Keys()
        let (one, two) = (try keys.make("one", .controller), try keys.make("two", .controller))
        try await withAgent(keys: keys) { relay, link, session in
            let first = try await viewer(relay, session, key: one)
            let second = try await viewer(relay, session, key: two)
            try await first.control()
            try await first.send(Opcode.binary, Self.keyDown)
            try await Self.answer(link)
            try await second.send(Opcode.binary, Self.claim)
            let refused = try await second.event("refused")
            #expect(refused["reason"] == "controlled" && refused["detail"]?.text.contains("one") == true)
            try await second.send(Opcode.binary, Self.take)
            #expect(try await Self.answer(link) == [.key(keysym: 0x61, isDown: false)])
            #expect(try await Self.answer(link) == [.releaseAll])
            try await control(second, "control") { $0["mine"] == true && $0["controller"] == "two" }
            try await control(first, "the loss") { $0["mine"] == false && $0["ended"] == "taken" }
            try await first.send(Opcode.binary, Self.keyUp)
            #expect(try await first.event("refused")["reason"] == "not_controlling")

            // A call takes over, too.
            try await second.send(Opcode.binary, Self.keyDown)
            try await Self.answer(link)
            async let answer = relay.call(
                .POST,
                "/v1/devices/default/actions",
                key: one,
                body: Array(#"{"press": "b", "take": true}"#.utf8)
            )
            #expect(try await Self.answer(link) == [.key(keysym: 0x61, isDown: false)])
            #expect(try await Self.answer(link) == [.releaseAll])
            try await Self.answer(link)
            #expect(try await answer.status == 200)
            try await control(second, "the loss") { $0["mine"] == false && $0["ended"] == "taken" }
        }
    }

    @Test("of one key's viewers, the last one that asks has control")
    func sameKey() async throws {
        try await withAgent { relay, link, session in
            let (first, second) = (try await viewer(relay, session), try await viewer(relay, session))
            try await first.control()
            try await first.send(Opcode.binary, Self.keyDown)
            try await Self.answer(link)
            try await second.control()
            #expect(try await Self.answer(link) == [.key(keysym: 0x61, isDown: false)])
            try await control(first, "the loss") { $0["mine"] == false && $0["controller"] == "local" }
        }
    }

    @Test("hears what the agent refuses, except movement")
    func refusals() async throws {
        try await withAgent { relay, link, session in
            let viewer = try await viewer(relay, session)
            try await viewer.control()
            let place: [UInt8] = [0, 0, 0, 9, 0, 1, 0, 0, 0, 1, 0, 0]
            try await viewer.send(Opcode.binary, [3, 0, 0, 0] + place)
            try await Self.answer(link, .refused(.outside, step: 0, detail: "outside"))
            try await viewer.send(Opcode.binary, [5, 0, 1, 0] + place)
            try await Self.answer(link, .refused(.geometryChanged, step: 0, detail: "another"))
            let refused = try await viewer.event("refused")
            #expect(refused["reason"] == "geometry_changed" && refused["detail"] == "another", "\(refused.text)")
            // The button is not down, so it does not go up.
            try await viewer.send(Opcode.binary, [5, 0, 0, 0] + place)
            try await viewer.send(Opcode.binary, Self.keyDown)
            #expect(try await Self.answer(link) == [.key(keysym: 0x61, isDown: true)])
            try await viewer.send(Opcode.binary, [15])
            #expect(try await viewer.event("refused")["reason"] == "unknown")
        }
    }

    @Test("that sends too much is refused, and its connection ends with a reason")
    func excess() async throws {
        try await withAgent { relay, _, session in
            let viewer = try await viewer(relay, session)
            for _ in 0..<200 { try await viewer.send(Opcode.binary, Self.keyDown) }
            let refused = try await viewer.event("refused")
            #expect(refused["reason"] == "not_controlling")
            #expect(try await viewer.closeCode() == 1008)
        }
    }

    @Test("acts through the agent that feeds its session")
    func feed() async throws {
        try await withAgent { relay, link, session in
            let viewer = try await viewer(relay, session)
            try await relay.waitForViewers(1, of: session)
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session)
            try await viewer.control()
            try await viewer.send(Opcode.binary, Self.keyDown)
            try await Self.answer(link)
            let standby = try await LinkClient(greeting: relay, pid: 2, role: .standby)
            try await standby.send(.inputs(Self.everything))
            try await standby.send([SampleStream.accessUnit(1, key: true)], session: session)
            // The source is lost, but the agent is there: it must release what it holds.
            try await link.send(.status(SourceStatus(state: .lost)))
            #expect(try await Self.answer(link) == [.releaseAll])
            try await viewer.send(Opcode.binary, Self.keyUp)
            try await viewer.send(Opcode.binary, [8, 1, 0, 0, 0, 0, 0, 0x62])
            #expect(try await Self.answer(standby) == [.key(keysym: 0x62, isDown: true)])
        }
    }
}
