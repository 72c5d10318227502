import Access
import Foundation
import HeliographAPI
import NIOCore
import NIOHTTP1
import Program
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("Launching applications", .serialized)
struct ApplicationTests {
    private static let path = "/v1/devices/default/applications"

    /// Runs a relay with an agent that is the test.
    private func withAgent(
        keys: Keys? = nil,
        log: LogRecorder? = nil,
        _ configure: @escaping @Sendable (inout DeviceConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningRelay, LinkClient) async throws -> Void
    ) async throws {
        try await RunningRelay.run(log: log) {
            $0.keysFile = keys?.file.path
            $0.devices[0].applications = [
                "terminal": AllowedApplication(
                    command: ["foot", "--app-id=test"],
                    directory: "/home/test",
                    environment: ["SECRET": "hush"]
                ),
                "browser": AllowedApplication(command: ["chromium"], takesArguments: true),
            ]
            configure(&$0.devices[0])
        } _: { relay in
            let link = try await LinkClient(greeting: relay)
            try await link.send(.status(.streaming))
            _ = try await eventually("the agent") {
                if keys != nil { return true }
                return try await relay.broadcast()["agent"] == .null ? nil : true
            }
            try await body(relay, link)
            // Otherwise the relay would wait for its answer before it ends.
            try? await link.close()
        }
    }

    /// Launches an application with the agent's help, and returns its id.
    private static func launch(_ name: String, _ relay: RunningRelay, _ link: LinkClient) async throws -> String {
        async let call = relay.post(path, ["name": .string(name)])
        try await link.answerApplication()
        let answer = try await call
        return try #require(answer.json["id"]?.string, "\(answer.text)")
    }

    @Test("is the agent's to do, with the configuration's command")
    func launches() async throws {
        let log = LogRecorder()
        try await withAgent(log: log) { relay, link in
            async let call = relay.post(Self.path, ["name": "terminal", "wait": true, "timeout": .number(2.5)])
            let order = try await link.answerApplication()
            #expect(order.kind == .launch && order.applications.count == 1)
            #expect(
                order.launch
                    == ApplicationLaunch(
                        command: ["foot", "--app-id=test"],
                        directory: "/home/test",
                        environment: ["SECRET": "hush"],
                        windowTime: 2500
                    )
            )
            let answer = try await call
            let id = order.applications[0].id
            #expect(answer.status == 201 && answer.json["id"]?.string == id && id.utf8.count == 16, "\(answer.text)")
            #expect(answer.json["running"] == true && answer.json["pid"] == 4711, "\(answer.text)")
            async let list = relay.get(Self.path)
            let look = try await link.answerApplication(running: false, status: 3)
            #expect(look.kind == .look && look.applications[0].process == ProcessIdentity(pid: 4711, started: 815))
            let json = try await list.json
            let listed = json["applications"]?.elements?.first
            #expect(listed?["exitStatus"] == 3 && listed?["running"] == false, "\(json.text)")
            #expect(json["launchable"] == ["browser", "terminal"] && json["desktopFiles"] == false, "\(json.text)")
            // What has ended needs no agent.
            let ended = try await relay.call(.DELETE, "\(Self.path)/\(id)")
            #expect(ended.status == 200 && ended.json["running"] == false, "\(ended.text)")
            let text = log.lines.map { "\($0)" }.joined(separator: "\n")
            #expect(text.contains("terminal") && text.contains(id) && !text.contains("hush"))
        }
    }

    @Test("gets arguments only if the configuration says so, and a desktop file only if it says that")
    func allowed() async throws {
        try await withAgent { relay, link in
            async let call = relay.post(Self.path, ["name": "browser", "arguments": ["a b", "$HOME"]])
            let order = try await link.answerApplication()
            #expect(order.launch?.command == ["chromium", "a b", "$HOME"])
            #expect(try await call.status == 201)
            let refused: [(JSONValue, Int, String, String)] = [
                (["name": "terminal", "arguments": ["x"]], 400, "unknown_field", "arguments"),
                (["name": "termina"], 404, "unknown_application", "terminal"),
                (["desktopFile": "org.gnome.Calculator"], 404, "unknown_application", "desktopFiles"),
                ([:], 400, "missing_field", "name"),
                (["name": "browser", "desktopFile": "x"], 400, "unknown_field", "exclude"),
            ]
            for (body, status, code, words) in refused {
                let answer = try await relay.post(Self.path, body)
                #expect(answer.status == status && answer.code == code, "\(body.text): \(answer.text)")
                #expect(answer.text.contains(words), "\(answer.text)")
            }
        }
        try await withAgent({ $0.allowsDesktopFiles = true }) { relay, link in
            async let call = relay.post(Self.path, ["desktopFile": "org.gnome.Calculator"])
            let order = try await link.answerApplication()
            #expect(order.launch == ApplicationLaunch(desktopFile: "org.gnome.Calculator"))
            #expect(try await call.json["name"] == "org.gnome.Calculator")
            let refused = try await relay.post(Self.path, ["desktopFile": "x", "arguments": ["y"]])
            #expect(refused.status == 400 && refused.code == "unknown_field", "\(refused.text)")
        }
    }

    @Test("is refused if the device's input is off")
    func off() async throws {
        try await withAgent({ $0.input = .off }) { relay, _ in
            let answer = try await relay.post(Self.path, ["name": "terminal"])
            #expect(answer.status == 409 && answer.code == "no_input", "\(answer.text)")
            #expect(try await relay.get(Self.path).json["launchable"] == [])
        }
    }

    @Test("that fails leaves nothing, and says why")
    func failures() async throws {
        try await withAgent { relay, link in
            let expected: [(ApplicationAnswer.Refusal, Int, String)] = [
                (.unknownFile, 404, "unknown_application"), (.notStarted, 502, "application_failed"),
                (.ended, 502, "application_failed"), (.late, 504, "application_timeout"),
                (.noWindow, 409, "no_window"), (.noWindowControl, 409, "no_window_control"),
                (.busy, 502, "application_failed"), (.failed, 502, "application_failed"),
            ]
            #expect(expected.count == ApplicationAnswer.Refusal.allCases.count)
            for (refusal, status, code) in expected {
                async let call = relay.post(Self.path, ["name": "terminal", "wait": true])
                let launch = try await link.answerApplication(refusal: refusal)
                let end = try await link.answerApplication(running: false)
                #expect(end.kind == .terminate && end.applications.map(\.id) == launch.applications.map(\.id))
                let answer = try await call
                #expect(answer.status == status && answer.code == code, "\(refusal): \(answer.text)")
                #expect(answer.text.contains("because"), "\(answer.text)")
            }
            #expect(try await relay.get(Self.path).json["applications"] == [])
        }
    }

    @Test("an application is focused and ended by its id")
    func focusAndEnd() async throws {
        try await withAgent { relay, link in
            let id = try await Self.launch("terminal", relay, link)
            async let focus = relay.post("\(Self.path)/\(id)/focus")
            #expect(try await link.answerApplication().kind == .focus)
            #expect(try await focus.status == 200)
            async let none = relay.post("\(Self.path)/\(id)/focus")
            try await link.answerApplication(refusal: .noWindow)
            #expect(try await none.code == "no_window")
            async let stuck = relay.call(.DELETE, "\(Self.path)/\(id)")
            try await link.answerApplication(running: true, refusal: .failed)
            #expect(try await stuck.code == "application_failed")
            async let ended = relay.call(.DELETE, "\(Self.path)/\(id)")
            let order = try await link.answerApplication(running: false, signal: 15)
            #expect(order.kind == .terminate && order.applications.map(\.id) == [id])
            #expect(try await ended.json["signal"] == 15)
            for (method, path) in [(HTTPMethod.POST, "nobody/focus"), (.DELETE, "nobody")] {
                let answer = try await relay.call(method, "\(Self.path)/\(path)")
                #expect(answer.status == 404 && answer.code == "unknown_application", "\(answer.text)")
            }
        }
    }

    @Test("belongs to the caller that controls the device")
    func controlled() async throws {
        let keys = try Keys()
        let (robot, other) = (try keys.make("robot", .controller), try keys.make("other", .controller))
        let viewer = try keys.make("wall", .viewer)
        try await withAgent(keys: keys) { relay, link in
            func call(_ key: APIKey, _ body: String, _ method: HTTPMethod = .POST) async throws -> RunningRelay.Answer {
                try await relay.call(method, Self.path, key: key, body: Array(body.utf8))
            }
            let refused = try await call(viewer, #"{"name": "terminal"}"#)
            #expect(refused.status == 403 && refused.code == "forbidden_role", "\(refused.text)")
            async let first = call(robot, #"{"name": "terminal"}"#)
            try await link.answerApplication()
            #expect(try await first.status == 201)
            let second = try await call(other, #"{"name": "terminal"}"#)
            #expect(second.status == 409 && second.code == "controlled" && second.json["controller"] == "robot")
            async let taken = call(other, #"{"name": "terminal", "take": true}"#)
            try await link.answerApplication()
            #expect(try await taken.status == 201)
        }
    }

    @Test("at most 32 run, and those that have ended make room")
    func bounded() async throws {
        try await withAgent { relay, link in
            for _ in 0..<32 { _ = try await Self.launch("terminal", relay, link) }
            async let refused = relay.post(Self.path, ["name": "terminal"])
            #expect(try await link.answerApplication().kind == .look)
            let answer = try await refused
            #expect(answer.status == 409 && answer.code == "too_many_applications", "\(answer.text)")
            for _ in 0..<40 {
                async let launched = relay.post(Self.path, ["name": "terminal"])
                // The look, at which all have ended, or the launch.
                let order = try await link.answerApplication(running: false, status: 0)
                if order.kind == .look { try await link.answerApplication(running: false, status: 0) }
                #expect(try await launched.status == 201)
            }
            #expect(try await relay.get(Self.path).json["applications"]?.elements?.count == 32)
        }
    }

    @Test("the end of the broadcast, and of the relay, ends what was launched")
    func ends() async throws {
        let keys = try Keys()
        let op = try keys.make("ci", .operator)
        try await withAgent(keys: keys) { relay, link in
            async let call = relay.call(.POST, Self.path, key: op, body: Array(#"{"name": "terminal"}"#.utf8))
            let launch = try await link.answerApplication()
            #expect(try await call.status == 201)
            async let stop = relay.call(.POST, "/v1/devices/default/broadcast/stop", key: op)
            let end = try await link.answerApplication(running: false)
            #expect(end.kind == .terminate && end.applications.map(\.id) == launch.applications.map(\.id))
            _ = try await link.first { if case .stop = $0 { true } else { nil } }
            try await link.close()
            #expect(try await stop.status == 200)
        }
    }

    @Test("a broadcast that ends its applications takes no start, and a second stop joins the first")
    func stops() async throws {
        try await withAgent { relay, link in
            _ = try await Self.launch("terminal", relay, link)
            async let first = relay.post("/v1/devices/default/broadcast/stop")
            let end = try await link.nextApplicationOrder()
            #expect(end.kind == .terminate)
            async let second = relay.post("/v1/devices/default/broadcast/stop")
            let start = try await relay.post("/v1/devices/default/broadcast/start")
            #expect(start.status == 409 && start.code == "broadcast_stopped", "\(start.text)")
            let states = end.applications.map { ApplicationState(id: $0.id, isRunning: false) }
            try await link.send(.applicationDone(ApplicationAnswer(order: end.order, applications: states)))
            let isStop = try await link.first { packet -> Bool? in
                switch packet {
                case .application: false
                case .stop: true
                default: nil
                }
            }
            #expect(isStop, "the second stop gives no order of its own")
            try await link.close()
            #expect(try await first.status == 200)
            #expect(try await second.status == 200)
        }
    }

    @Test(
        "without an agent, another user's applications stay as they are",
        .enabled(if: geteuid() != 0, "root sees the processes of all users")
    )
    func foreign() async throws {
        try await withAgent { relay, link in
            async let call = relay.post(Self.path, ["name": "terminal"])
            let order = try await link.nextApplicationOrder()
            let state = ApplicationState(id: order.applications[0].id, user: geteuid() &+ 1, isRunning: true)
            try await link.send(.applicationDone(ApplicationAnswer(order: order.order, applications: [state])))
            #expect(try await call.status == 201)
            try await link.close()
            _ = try await eventually("the lost link") { try await relay.broadcast()["agent"] == .null ? true : nil }
            let ended = try await relay.call(.DELETE, "\(Self.path)/\(state.id)")
            #expect(ended.code == "application_failed" && ended.text.contains("another user"), "\(ended.text)")
            let list = try await relay.get(Self.path).json
            #expect(list["applications"]?.elements?.first?["running"] == true, "\(list.text)")
        }
    }

    @Test("without an agent, the relay ends its own user's applications by itself")
    func alone() async throws {
        try await withAgent { relay, link in
            async let call = relay.post(Self.path, ["name": "terminal"])
            let order = try await link.nextApplicationOrder()
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sleep")
            process.arguments = ["600"]
            process.environment = [ApplicationProcesses.variable: order.applications[0].id]
            try Programs.start(process)
            let state = ApplicationState(
                id: order.applications[0].id,
                process: ProcessIdentity(pid: process.processIdentifier),
                user: geteuid(),
                isRunning: true
            )
            try await link.send(.applicationDone(ApplicationAnswer(order: order.order, applications: [state])))
            #expect(try await call.status == 201)
            try await link.close()
            _ = try await eventually("the lost link") { try await relay.broadcast()["agent"] == .null ? true : nil }
            let list = try await relay.get(Self.path).json
            #expect(list["applications"]?.elements?.first?["running"] == true, "\(list.text)")
            let ended = try await relay.call(.DELETE, "\(Self.path)/\(state.id)")
            #expect(ended.status == 200 && ended.json["running"] == false, "\(ended.text)")
            process.waitUntilExit()
            #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGTERM)
            let refused = try await relay.post(Self.path, ["name": "terminal"])
            #expect(refused.status == 409 && refused.code == "no_source", "\(refused.text)")
        }
    }

    @Test("what a killed relay has launched is known to the next one, by the state file")
    func restored() async throws {
        let scratch = try Scratch()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sleep")
        process.arguments = ["600"]
        let id = "state-\(UUID().uuidString)"
        process.environment = [ApplicationProcesses.variable: id]
        try Programs.start(process)
        let identity = ProcessIdentity(pid: process.processIdentifier)
        func kept(_ id: String, _ device: String = "default") -> RelayState.Application {
            RelayState.Application(
                device: device,
                id: id,
                name: "terminal",
                started: Date(),
                process: identity,
                user: geteuid()
            )
        }
        let state = RelayState(
            linkToken: String(repeating: "0", count: 64),
            lastSession: 0,
            sessions: [],
            broadcasts: [],
            applications: [kept(id), kept("not a name"), kept("elsewhere", "nowhere")]
        )
        let path = scratch.file("state.json").path
        try StateFile(path: path).write(state)
        try await RunningRelay.run {
            $0.stateFile = path
        } _: { relay in
            let list = try await relay.get(Self.path).json["applications"]?.elements
            #expect(list?.count == 1 && list?.first?["id"]?.string == id, "\(list ?? [])")
            #expect(list?.first?["running"] == true && list?.first?["pid"] == .integer(Int(process.processIdentifier)))
        }
        // The relay's end has ended it.
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGTERM)
    }

    @Test("answers that nobody asked for count as reports")
    func unasked() async throws {
        try await withAgent { relay, link in
            let answer = ApplicationAnswer(order: 77, applications: [ApplicationState(id: "x", isRunning: true)])
            for _ in 0..<3000 { try? await link.send(.applicationDone(answer)) }
            _ = try await eventually("the end of the link") {
                try await relay.broadcast()["agent"] == .null ? true : nil
            }
        }
    }
}
