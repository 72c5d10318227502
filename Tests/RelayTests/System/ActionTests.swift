import Access
import Foundation
import HeliographAPI
import NIOCore
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("Acting on a screen", .serialized)
struct ActionTests {
    private static let path = "/v1/devices/default/actions"
    private static let everything = InputCapabilities(backend: "wlroots", pointer: true, keyboard: true, touch: true)

    /// Runs a relay with an agent that can act.
    private func withAgent(
        _ capabilities: InputCapabilities = everything,
        keys: Keys? = nil,
        log: LogRecorder? = nil,
        _ body: @escaping @Sendable (RunningRelay, LinkClient) async throws -> Void
    ) async throws {
        try await RunningRelay.run(log: log) {
            $0.keysFile = keys?.file.path
        } _: { relay in
            let link = try await LinkClient(greeting: relay)
            try await link.send(.inputs(capabilities))
            let key = try keys?.make("reader", .viewer)
            try await relay.waitForCapabilities(key: key)
            try await body(relay, link)
        }
    }

    private static func nextOrder(_ link: LinkClient) async throws -> (SessionID, InputOrder) {
        try await link.first { if case .input(let id, let order) = $0 { (id, order) } else { nil } }
    }

    /// Answers the next order.
    @discardableResult
    private static func answer(
        _ link: LinkClient,
        _ outcome: InputReport.Outcome = .done(
            began: NIODeadline.now().uptimeNanoseconds,
            at: NIODeadline.now().uptimeNanoseconds
        )
    ) async throws -> (session: SessionID, order: InputOrder) {
        let (session, order) = try await nextOrder(link)
        try await link.send(.inputDone(session, InputReport(id: order.id, outcome: outcome)))
        return (session, order)
    }

    @Test("is the agent's to do, in a session's pixels")
    func done() async throws {
        try await withAgent { relay, link in
            let session = try await relay.startSession(["onDemand": true])
            async let answer = relay.post(Self.path, ["click": ["x": 10, "y": 20], "geometry": 4711])
            let (id, order) = try await Self.answer(link)
            #expect(id == session.id && order.geometry == 4711 && order.id > 0)
            #expect(order.steps.first == .pointer(x: 10.5, y: 20.5) && order.steps.count == 4)
            let json = try await answer.json
            #expect(json["session"] == .integer(Int(id)) && json["steps"] == 4, "\(json.text)")
            guard case .integer(let pts)? = json["pts"] else {
                Issue.record("no PTS in \(json.text)")
                return
            }
            #expect(pts > 0)
            #expect(try await relay.session(id)["state"] == "asleep", "nothing is encoded")
            let metrics = try await relay.get("/metrics").text
            #expect(metrics.contains("heliograph_input_orders_total{device=\"default\",outcome=\"done\"} 1\n"))
        }
    }

    @Test("needs no session without places, and the right one with them")
    func sessions() async throws {
        try await withAgent { relay, link in
            async let typed = relay.post(Self.path, ["type": "hello"])
            let (none, order) = try await Self.answer(link)
            #expect(none == 0 && order.steps == [.text("hello")])
            let json = try await typed.json
            #expect(json["session"] == .null && json["pts"] == .null, "\(json.text)")
            let click: JSONValue = ["click": ["x": 1, "y": 1]]
            let without = try await relay.post(Self.path, click)
            #expect(without.status == 404 && without.code == "unknown_session", "\(without.text)")
            let first = try await relay.startSession()
            _ = try await relay.startSession()
            let ambiguous = try await relay.post(Self.path, click)
            #expect(ambiguous.code == "unknown_session" && ambiguous.text.contains("several"), "\(ambiguous.text)")
            _ = try await relay.call(.PUT, "/v1/devices/default/sessions/shared")
            let shared = try await relay.get("/v1/devices/default/sessions/shared").json["id"]
            for (name, expected) in [("\(first.id)", JSONValue.integer(Int(first.id))), ("shared", shared ?? .null)] {
                async let answer = relay.post(Self.path, ["tap": ["x": 1, "y": 1], "session": .string(name)])
                try await Self.answer(link)
                #expect(try await answer.json["session"] == expected)
            }
            async let usual = relay.post(Self.path, click)
            try await Self.answer(link)
            #expect(try await usual.json["session"] == shared)
            let unknown = try await relay.post(Self.path, ["type": "a", "session": "nobody"])
            #expect(unknown.code == "unknown_session" && unknown.json["field"] == "session", "\(unknown.text)")
        }
    }

    @Test("fails with the agent's reason")
    func refusals() async throws {
        try await withAgent { relay, link in
            _ = try await relay.startSession()
            let expected: [(InputReport.Refusal, Int, String)] = [
                (.unknownSession, 503, "no_picture"), (.noFrame, 503, "no_picture"),
                (.geometryChanged, 409, "geometry_changed"), (.outside, 400, "out_of_range"),
                (.unsupported, 409, "no_input"), (.noBackend, 409, "no_input"), (.busy, 409, "too_many_orders"),
                (.failed, 502, "input_failed"),
            ]
            #expect(expected.count == InputReport.Refusal.allCases.count)
            for (refusal, status, code) in expected {
                async let answer = relay.post(Self.path, ["click": ["x": 1, "y": 1]])
                try await Self.answer(link, .refused(refusal, step: 0, detail: "because"))
                let problem = try await answer
                #expect(problem.status == status && problem.code == code, "\(refusal): \(problem.text)")
            }
            async let answer = relay.post(Self.path, ["type": "a"])
            _ = try await Self.nextOrder(link)
            try await link.close()
            let lost = try await answer
            #expect(lost.status == 502 && lost.code == "input_failed", "\(lost.text)")
            let gone = try await relay.post(Self.path, ["type": "a"])
            #expect(gone.status == 409 && gone.code == "no_source", "\(gone.text)")
        }
    }

    @Test("is refused at once if the desktop lacks the device")
    func capabilities() async throws {
        try await withAgent(InputCapabilities(backend: "x11", pointer: true)) { relay, link in
            _ = try await relay.startSession()
            for body: JSONValue in [["type": "a"], ["tap": ["x": 1, "y": 1]]] {
                let answer = try await relay.post(Self.path, body)
                #expect(answer.status == 409 && answer.code == "no_input", "\(answer.text)")
                #expect(answer.json["input"]?["backend"] == "x11", "\(answer.text)")
            }
            let none = InputCapabilities(backend: "none", problem: "Start the agent in a desktop session.")
            try await link.send(.inputs(none))
            let problem = try await eventually("the change") {
                let answer = try await relay.post(Self.path, ["press": "a"])
                return answer.text.contains("Start the agent") ? answer : nil
            }
            #expect(problem.code == "no_input")
            // An agent of an older release.
            let old = try await LinkClient(greeting: relay, pid: 2)
            let answer = try await eventually("the other agent") {
                let answer = try await relay.post(Self.path, ["press": "a"])
                return answer.text.contains("older release") ? answer : nil
            }
            #expect(answer.code == "no_input" && answer.json["input"] == .null, "\(answer.text)")
            try await old.close()
        }
    }

    @Test("is one caller's at a time")
    func control() async throws {
        let keys = try Keys()
        let (one, other) = (try keys.make("one", .controller), try keys.make("other", .operator))
        let log = LogRecorder()
        try await withAgent(keys: keys, log: log) { relay, link in
            func post(_ key: APIKey, _ body: JSONValue) async throws -> RunningRelay.Answer {
                try await relay.call(.POST, Self.path, key: key, body: Array(body.text.utf8))
            }
            async let first = post(one, ["type": "secret"])
            try await Self.answer(link)
            #expect(try await first.status == 200)
            let report = try await relay.call(.GET, "/v1/devices/default/broadcast", key: one)
            #expect(report.json["controller"] == "one")
            let refused = try await post(other, ["type": "secret"])
            #expect(refused.status == 409 && refused.code == "controlled", "\(refused.text)")
            #expect(refused.json["controller"] == "one")
            let kept = try await relay.call(.DELETE, Self.path, key: other)
            #expect(kept.status == 409 && kept.code == "controlled")
            // What the former controller holds is released first.
            async let taken = post(other, ["type": "secret", "take": true])
            #expect(try await Self.answer(link).order.steps == [.releaseAll])
            #expect(try await Self.answer(link).order.steps == [.text("secret")])
            #expect(try await taken.status == 200)
            async let released = relay.call(.DELETE, Self.path, key: other)
            #expect(try await Self.answer(link).order.steps == [.releaseAll])
            #expect(try await released.json["released"] == true)
            async let again = post(one, ["type": "secret"])
            try await Self.answer(link)
            #expect(try await again.status == 200)
            let events = try await relay.call(
                .GET,
                "/v1/events?types=controller&follow=false",
                key: one,
                headers: [("Last-Event-ID", "x-0")]
            )
            let states = events.text.matches(of: /"state":("\w+"|null)/).map { String($0.output.1) }
            #expect(states == ["\"one\"", "\"other\"", "null", "\"one\""], "\(events.text)")
        }
        let lines = log.lines.filter { $0.message == "audit" && $0.metadata["key"] != nil }
        #expect(lines.contains { $0.metadata["steps"] == "1" && $0.metadata["device"] == "default" })
        #expect(!log.lines.contains { "\($0)".contains("secret") }, "no text is logged")
    }

    @Test("begins with nothing held at a standby that takes over")
    func feedSwitch() async throws {
        try await withAgent { relay, agent in
            let session = try await relay.startSession()
            let standby = try await LinkClient(greeting: relay, pid: 4712, role: .standby)
            // Before the picture that makes it feed: the relay has heard of its input by then.
            try await standby.send(.inputs(Self.everything))
            try await agent.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            try await relay.waitForPicture(of: session.id)
            async let typed = relay.post(Self.path, ["type": "hello"])
            _ = try await Self.nextOrder(agent)
            try await agent.send(.status(SourceStatus(state: .lost)))
            try await standby.send([SampleStream.accessUnit(1, key: true)], session: session.id)
            let answer = try await typed
            #expect(answer.status == 502 && answer.text.contains("another agent"), "\(answer.text)")
            #expect(try await Self.nextOrder(agent).1.steps == [.releaseAll])
            async let next = relay.post(Self.path, ["type": "world"])
            #expect(try await Self.answer(standby).order.steps == [.text("world")])
            #expect(try await next.status == 200)
        }
    }

    @Test("is released when its caller's key is revoked")
    func revoked() async throws {
        let keys = try Keys()
        let key = try keys.make("one", .controller)
        try await withAgent(keys: keys) { relay, link in
            async let typed = try? await relay.call(.POST, Self.path, key: key, body: Array(#"{"type": "a"}"#.utf8))
            _ = try await Self.nextOrder(link)
            try keys.revoke("one")
            #expect(try await Self.nextOrder(link).1.steps == [.releaseAll])
            _ = await typed
        }
    }

    @Test("waits for at most seven others")
    func tooMany() async throws {
        try await withAgent { relay, link in
            try await withThrowingTaskGroup(of: RunningRelay.Answer.self) { group in
                for _ in 0..<8 { group.addTask { try await relay.post(Self.path, ["type": "a"]) } }
                var orders: [(SessionID, InputOrder)] = []
                while orders.count < 8 { orders.append(try await Self.nextOrder(link)) }
                // The HTTP client has no ninth connection.
                let client = try await ByteClient(port: relay.ports.http)
                let call =
                    "POST \(Self.path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 12\r\n\r\n"
                try await client.send(Array((call + #"{"type":"b"}"#).utf8))
                let ninth = String(decoding: try await client.readToEnd(), as: UTF8.self)
                #expect(ninth.contains("409") && ninth.contains("too_many_orders"), "\(ninth)")
                for (session, order) in orders {
                    try await link.send(.inputDone(session, InputReport(id: order.id, outcome: .done(began: 1, at: 2))))
                }
                for try await answer in group { #expect(answer.status == 200) }
            }
        }
    }

    @Test("is released by every agent, also if one does not answer")
    func hangingAgent() async throws {
        try await withAgent { relay, agent in
            let standby = try await LinkClient(greeting: relay, pid: 4712, role: .standby)
            try await standby.send(.inputs(Self.everything))
            try await standby.send(.status(.streaming))
            _ = try await eventually("the standby") {
                let report = try await relay.get("/v1/devices/default/broadcast").json
                return report["standby"]?["state"] == "live" ? true : nil
            }
            async let answer = relay.call(.DELETE, Self.path)
            _ = try await Self.nextOrder(agent)
            #expect(try await Self.answer(standby).order.steps == [.releaseAll])
            let problem = try await answer
            #expect(problem.status == 504 && problem.code == "input_timeout", "\(problem.text)")
        }
    }

    @Test("is released for a caller who is alone, even without an agent")
    func release() async throws {
        try await RunningRelay.run { relay in
            let nothing = try await relay.call(.DELETE, Self.path)
            #expect(nothing.status == 200 && nothing.json["released"] == false, "\(nothing.text)")
        }
        try await withAgent { relay, link in
            async let answer = relay.call(.DELETE, Self.path)
            let (session, order) = try await Self.answer(link, .refused(.noBackend, step: 0, detail: ""))
            #expect(session == 0 && order.steps == [.releaseAll])
            #expect(try await answer.json["released"] == false)
        }
    }

    // MARK: Without keys

    @Test(
        "is for the relay's own user, without a proxy",
        arguments: ["Forwarded", "X-Forwarded-For", "Via", "X-Real-IP"]
    )
    func proxies(field: String) async throws {
        let log = LogRecorder()
        try await withAgent(log: log) { relay, _ in
            for method in [HTTPMethod.POST, .DELETE] {
                let answer = try await relay.call(method, Self.path, headers: [(field, "for=192.0.2.1")], body: [])
                #expect(answer.status == 403 && answer.code == "forbidden_caller", "\(answer.text)")
                #expect(answer.text.contains("--role controller"), "\(answer.text)")
            }
        }
        #expect(log.lines.contains { $0.message == "audit" && $0.metadata["code"] == "forbidden_caller" })
    }

    /// Calls as another user, and prints the answer. Given an address, it also listens there.
    private static let stranger = """
        import os, socket, sys
        os.setuid(int(sys.argv[1]))
        server = socket.create_server((sys.argv[4], 0)) if len(sys.argv) > 4 else None
        link = socket.create_connection((sys.argv[2], int(sys.argv[3])))
        link.sendall(b'POST /v1/devices/default/actions HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 13\\r\\n\\r\\n{"press":"a"}')
        print(link.recv(65536).decode(errors="replace"))
        """

    @Test(
        "is not for another user",
        .enabled(if: geteuid() == 0, "only root can become another user"),
        arguments: ["127.0.0.1", "::1"]
    )
    func strangers(host: String) async throws {
        try await RunningRelay.run {
            $0.http.host = host
        } _: { relay in
            for (user, code) in [("12345", "forbidden_caller"), ("0", "no_source")] {
                let outcome = try await inThread {
                    try Programs.run(
                        URL(fileURLWithPath: "/usr/bin/python3"),
                        ["-c", Self.stranger, user, host, "\(relay.ports.http)"]
                    )
                }
                #expect(outcome.output.contains(code), "\(outcome)")
            }
        }
    }

    @Test(
        "is not for a program that other machines reach, which may speak for them",
        arguments: [("0.0.0.0", "forbidden_caller"), ("127.0.0.1", "no_source")]
    )
    func forwarders(listening: String, code: String) async throws {
        try await RunningRelay.run { relay in
            let outcome = try await inThread {
                try Programs.run(
                    URL(fileURLWithPath: "/usr/bin/python3"),
                    ["-c", Self.stranger, "\(geteuid())", "127.0.0.1", "\(relay.ports.http)", listening]
                )
            }
            #expect(outcome.output.contains(code), "\(outcome)")
            #expect(outcome.output.contains("other machines") == (code == "forbidden_caller"), "\(outcome)")
        }
    }

    // 22 listens everywhere; inode 11 is a connection that another machine has opened to it, 12 one that was opened
    // to another machine's port 22, 13 one within this machine.
    private static let sockets = """
           0: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 10 1 0 100 0 0 10 0
           1: 0A00000A:0016 0B00000A:C350 01 00000000:00000000 00:00000000 00000000  1000        0 11 1 0 20 4 30 10 -1
           2: 0A00000A:C351 0B00000A:0016 01 00000000:00000000 00:00000000 00000000  1000        0 12 1 0 20 4 30 10 -1
           3: 0100007F:0016 0100007F:C352 01 00000000:00000000 00:00000000 00000000  1000        0 13 1 0 20 4 30 10 -1
           4: 0000000000000000FFFF00000100007F:1F90 00000000000000000000000000000000:0000 0A 0:0 0:0 0 1000 0 14 1
           5: 00000000000000000000000000000000:1F91 00000000000000000000000000000000:0000 0A 0:0 0:0 0 1000 0 15 1
        """.split(separator: "\n").compactMap { Forwarding.Socket($0.utf8) }

    @Test("a program is reached where it listens beyond loopback, or by a connection that another machine has opened")
    func reach() {
        #expect(Self.sockets.count == 6)
        for (inode, port): (UInt64, UInt16?) in [
            (10, 22), (11, 22), (12, nil), (13, nil), (14, nil), (15, 8081), (9, nil),
        ] {
            #expect(Forwarding.reachablePort(of: [inode, 1], among: Self.sockets) == port, "inode \(inode)")
        }
        for line in ["", "0:", "0: x:1 y:2 01 0 0 0 0 0 1", "0: 0100007F:0016 0100007F:10000 01 0:0 0:0 0 1 0 1"] {
            #expect(Forwarding.Socket(line.utf8) == nil, "\(line)")
        }
    }

    @Test("asks the kernel for the user at the other end of a connection")
    func owner() async throws {
        try await RunningRelay.run { relay in
            let (peer, local) = try await inThread { () -> (SocketAddress, SocketAddress) in
                let here = try SocketAddress(ipAddress: "127.0.0.1", port: relay.ports.http)
                return (here, try SocketAddress(ipAddress: "127.0.0.1", port: 1))
            }
            // A listener is not a connection.
            #expect(LocalUser.socket(at: peer, connectedTo: local) == nil)
            #expect(LocalUser.socket(at: peer, connectedTo: try SocketAddress(ipAddress: "::1", port: 1)) == nil)
        }
        for (address, isLoopback) in [
            ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("::ffff:127.0.0.1", true), ("10.0.0.1", false),
            ("::2", false), ("fe80::1", false), ("::ffff:10.0.0.1", false), ("::127.0.0.1", false),
        ] {
            let address = try SocketAddress(ipAddress: address, port: 1)
            #expect(LocalUser.isLoopback(address) == isLoopback, "\(address)")
        }
    }
}
