import Foundation
import Glibc
import TestSupport
import Testing

extension SystemTests {
    /// Tests of applications on real desktops: clients that log when they get and lose the keyboard.
    @Suite("Applications")
    struct ApplicationTests {
        /// A desktop, and a relay that broadcasts it. Calls come from the desktop's user, whom the relay lets act.
        private struct Place {
            let desktop: Desktop
            let relay: RelayProcess

            /// Calls the device's applications, or one of them.
            func call(_ method: String, _ path: String = "", _ body: RelayProcess.Object? = nil) throws -> RelayAnswer {
                try desktop.call(method, "/v1/devices/default/applications\(path)", body, of: relay)
            }

            func launch(_ name: String, wait: Bool = false, timeout: Double = 10) throws -> RelayAnswer {
                let answer = try call("POST", "", ["name": name, "wait": wait, "timeout": timeout])
                guard answer.status == 201 else { throw NeverCame(description: "\(name): \(answer)") }
                return answer
            }

            /// An application as the list has it.
            func listed(_ id: String) throws -> RelayProcess.Object? {
                let list = try call("GET").body["applications"] as? [RelayProcess.Object]
                return list?.first { $0.string("id") == id }
            }

            /// Whether the client has the keyboard, by the last line about it in its log.
            func hasFocus(_ name: String) throws -> Bool {
                let log = try String(contentsOf: log(name), encoding: .utf8)
                let words = log.split(separator: "\n").map { $0.split(separator: " ") }
                return words.last { $0.count == 3 && $0[1] == "focus" }?.last == "in"
            }

            func log(_ name: String) -> URL { desktop.directory.appendingPathComponent("run/\(name).log") }
        }

        private func withApplications(_ screen: Screen, _ body: (Place) async throws -> Void) async throws {
            let desktop = try Desktop(screen.compositor, client: false)
            defer { desktop.end() }
            // Puts the client where the desktop's user can run it.
            try desktop.startInputLog()
            let client = desktop.directory.appendingPathComponent("bin/\(screen.client)").path
            let run = desktop.directory.appendingPathComponent("run").path
            func logging(_ name: String) -> String {
                "{command: [sh, -c, 'exec \(client) >\(run)/\(name).log']}"
            }
            let applications = """
                {first: \(logging("first")), second: \(logging("second")), windowless: {command: [sleep, "600"]},
                 failing: {command: [sh, -c, "exit 3"]}, missing: {command: [/nonexistent/program]},
                 stubborn: {command: [sh, -c, "trap '' TERM; setsid sleep 600 & while :; do sleep 1; done"]}}
                """
            let relay = try await RelayProcess(
                in: desktop,
                arguments: ["--source", screen.source],
                environment: ["HELIOGRAPH_RELAY_APPLICATIONS": applications]
            )
            defer { relay.terminate() }
            try await relay.post("/v1/devices/default/broadcast/start", ["timeout": 60])
            // A headless compositor's seat has a keyboard once a key was pressed.
            let pressed = try desktop.callActions("POST", ["press": "shift"], of: relay)
            #expect(pressed.status == 200, "\(pressed)")
            try await body(Place(desktop: desktop, relay: relay))
        }

        private static func isGone(_ pid: Int32) -> Bool {
            guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return true }
            return stat.split(separator: ")").last?.hasPrefix(" Z") ?? true
        }

        @Test(
            "have a window when the launch has answered, get the keyboard, and end",
            arguments: [Screen.sway, .xvfb]
        )
        func windows(screen: Screen) async throws {
            try await withApplications(screen) { place in
                let first = try place.launch("first", wait: true)
                let second = try place.launch("second", wait: true)
                #expect(first.isRunning && second.isRunning && first.id != second.id)
                for (wanted, other, id) in [("first", "second", first.id), ("second", "first", second.id)] {
                    let answer = try place.call("POST", "/\(id)/focus")
                    #expect(answer.status == 200, "\(answer)")
                    _ = try await eventually("the keyboard of \(wanted)") {
                        try place.hasFocus(wanted) && !place.hasFocus(other) ? true : nil
                    }
                }
                let late = try place.call("POST", "", ["name": "windowless", "wait": true, "timeout": 0.5])
                #expect(late.status == 504 && late.code == "application_timeout", "\(late)")
                let failed = try place.call("POST", "", ["name": "failing", "wait": true])
                #expect(failed.status == 502 && failed.code == "application_failed", "\(failed)")
                let missing = try place.call("POST", "", ["name": "missing"])
                #expect(missing.status == 502 && missing.code == "application_failed", "\(missing)")
                let windowless = try place.launch("windowless")
                let none = try place.call("POST", "/\(windowless.id)/focus")
                #expect(none.status == 409 && none.code == "no_window", "\(none)")
                let ended = try place.call("DELETE", "/\(first.id)")
                #expect(ended.status == 200 && !ended.isRunning && ended.body.integer("signal") == 15, "\(ended)")
                #expect(Self.isGone(first.pid) && !Self.isGone(second.pid))
                // The failed ones are forgotten, because nothing of them is left.
                let names = (try place.call("GET").body["applications"] as? [RelayProcess.Object])?
                    .compactMap { $0.string("name") }
                #expect(names == ["first", "second", "windowless"])
            }
        }

        @Test("outlive their agent, and end with the broadcast")
        func survival() async throws {
            try await withApplications(.sway) { place in
                let first = try place.launch("first", wait: true)
                let stubborn = try place.launch("stubborn")
                let failing = try place.launch("failing")
                let status = try await eventually("the exit status") {
                    let listed = try place.listed(failing.id)
                    return listed?["running"] as? Bool == false ? listed?.integer("exitStatus") : nil
                }
                #expect(status == 3)
                let path = "/v1/devices/default/broadcast"
                let agent = try await place.relay.get(path).object("agent").integer("pid")
                #expect(agent > 0)
                kill(Int32(agent), SIGKILL)
                _ = try await eventually("another agent", limit: .seconds(20)) {
                    let now = try await place.relay.get(path)
                    let isStreaming = now.object("source").string("state") == "streaming"
                    return now.object("agent").integer("pid") != agent && isStreaming ? true : nil
                }
                #expect(!Self.isGone(first.pid) && !Self.isGone(stubborn.pid))
                #expect(try place.listed(first.id)?["running"] as? Bool == true)
                let focus = try place.call("POST", "/\(first.id)/focus")
                #expect(focus.status == 200, "\(focus)")
                let ended = try place.call("DELETE", "/\(first.id)")
                #expect(ended.status == 200 && Self.isGone(first.pid), "\(ended)")
                try await place.relay.post("\(path)/stop")
                #expect(Self.isGone(stubborn.pid))
                let left = try Programs.run(
                    Programs.desktop,
                    [
                        "exec", place.desktop.directory.path, "sh", "-c",
                        "grep -slz HELIOGRAPH_APPLICATION=\(stubborn.id) /proc/*/environ",
                    ],
                    directory: place.desktop.directory
                )
                #expect(left.output.isEmpty, "\(left)")
            }
        }

        @Test("on GNOME run, and windows are refused by name")
        func mutter() async throws {
            try await withApplications(.mutter) { place in
                let first = try place.launch("first")
                _ = try await eventually("the keyboard") { try place.hasFocus("first") ? true : nil }
                let focus = try place.call("POST", "/\(first.id)/focus")
                #expect(focus.status == 409 && focus.code == "no_window_control", "\(focus)")
                let waiting = try place.call("POST", "", ["name": "second", "wait": true])
                #expect(waiting.status == 409 && waiting.code == "no_window_control", "\(waiting)")
                #expect(!FileManager.default.fileExists(atPath: place.log("second").path), "it was not launched")
                #expect(place.relay.terminate() == 0)
                #expect(Self.isGone(first.pid), "the relay's end ends it")
            }
        }
    }
}

extension SystemTests.Screen {
    /// The client with a window.
    fileprivate var client: String { self == .xvfb ? "input-log-x11" : "input-log-wayland" }
}

/// A call's answer about an application.
extension RelayAnswer {
    fileprivate var id: String { body.string("id") ?? "" }
    fileprivate var pid: Int32 { Int32(body.integer("pid")) }
    fileprivate var isRunning: Bool { body["running"] as? Bool ?? false }
}
