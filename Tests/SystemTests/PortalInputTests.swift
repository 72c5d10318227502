import Foundation
import Program
import TestSupport
import Testing

extension SystemTests {
    /// Tests of acting through xdg-desktop-portal. Its backend is a test's, which records what comes.
    @Suite("Input by the portal")
    struct PortalInputTests {
        private struct Place {
            let desktop: Desktop
            let relay: RelayProcess

            /// What the agent can do on its screen.
            func input() async throws -> RelayProcess.Object {
                try await relay.get("/v1/devices/default/broadcast").object("input")
            }

            /// Waits until the agent says that it cannot act, and why.
            func problem(_ words: String) async throws {
                _ = try await eventually("the problem '\(words)'") {
                    let input = try await input()
                    let problem = input.string("problem") ?? ""
                    return input.string("backend") == "none" && problem.contains(words) ? true : nil
                }
            }

            func granted() async throws -> RelayProcess.Object {
                try await eventually("the portal's devices") {
                    let input = try await input()
                    return input.string("backend") == "portal" ? input : nil
                }
            }

            /// Calls the device's actions as the desktop's user.
            func call(_ body: RelayProcess.Object) throws -> RelayAnswer {
                try desktop.callActions("POST", body, of: relay)
            }

            /// Acts, and returns the events that the portal's backend got.
            func events(of body: RelayProcess.Object) throws -> [[String]] {
                let before = try desktop.remoteEvents().count
                let answer = try call(body)
                #expect(answer.status == 200, "\(body): \(answer)")
                return Array(try desktop.remoteEvents().dropFirst(before))
            }

            /// How often a person was asked.
            func questions() throws -> Int { try desktop.remoteCalls().count { $0.first == "Start" } }

            /// What the doctor says of a device's input.
            func diagnosis(_ input: String) throws -> Finding {
                let arguments = ["capture-agent", "--diagnose", "--input", input]
                let outcome = try Programs.run(Programs.desktop, ["exec", desktop.directory.path] + arguments)
                let findings = try JSONDecoder().decode([Finding].self, from: Data(outcome.output.utf8))
                return try #require(findings.first { $0.check == "input" })
            }

            func asked(_ times: Int) async throws {
                _ = try await eventually("\(times). question") { try questions() == times ? true : nil }
            }
        }

        private func withPortal(
            letsProgramsAct: Bool = true,
            _ body: (Place) async throws -> Void
        ) async throws {
            let desktop = try Desktop(.sway, letsProgramsAct: letsProgramsAct, client: false)
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop, arguments: ["--source", "screenshot", "--input", "portal"])
            defer { relay.terminate() }
            try await relay.post("/v1/devices/default/broadcast/start", ["timeout": 60])
            try await body(Place(desktop: desktop, relay: relay))
        }

        private static func expect(_ events: [[String]], _ expected: [[any Sendable]], _ what: String) {
            #expect(events.count == expected.count, "\(what): \(events)")
            for (event, wanted) in zip(events, expected) {
                #expect(event.first == wanted.first as? String, "\(what): \(events)")
                let numbers = event.dropFirst().compactMap(Double.init)
                let wantedNumbers = wanted.dropFirst().compactMap { $0 as? Double ?? ($0 as? Int).map(Double.init) }
                let isSame =
                    numbers.count == wantedNumbers.count
                    && zip(numbers, wantedNumbers).allSatisfy { abs($0 - $1) < 0.001 }
                #expect(isSame, "\(what): \(event), not \(wanted)")
            }
        }

        @Test("after a person has agreed, each action comes as the portal's events, at the place of the shared screen")
        func granted() async throws {
            try await withPortal { place in
                try await place.problem("asks a person")
                let early = try place.call(["type": "a"])
                #expect(early.status == 409 && early.body.string("code") == "no_input", "\(early)")
                #expect(early.body.string("detail")?.contains("dialog") == true, "\(early)")

                // A desktop that is scaled by 2 has half as many pixels of its own.
                try place.desktop.grant(size: "640x360")
                let input = try await place.granted()
                for name in ["pointer", "keyboard", "touch", "smoothScroll"] { #expect(input[name] as? Bool == true) }
                #expect(input["anyCharacter"] as? Bool == false)
                try await place.relay.put("/v1/devices/default/sessions/shared", [:])

                let click: RelayProcess.Object = ["x": 300, "y": 301, "button": "right"]
                Self.expect(
                    try place.events(of: ["click": click]),
                    [
                        ["PointerMotion", 0, 0],
                        ["PointerMotionAbsolute", 41, 150.25, 150.75], ["PointerButton", 0x111, 1],
                        ["PointerButton", 0x111, 0],
                    ],
                    "a click"
                )
                let scroll: RelayProcess.Object = ["x": 10, "y": 10, "dx": 0, "dy": 45]
                Self.expect(
                    try place.events(of: ["scroll": scroll]),
                    [["PointerMotionAbsolute", 41, 5.25, 5.25], ["PointerAxis", 0, 45]],
                    "the wheel"
                )
                let tap: RelayProcess.Object = ["x": 0, "y": 719]
                Self.expect(
                    try place.events(of: ["tap": tap]),
                    [["TouchDown", 41, 0, 0.25, 359.75], ["TouchUp", 0]],
                    "a tap"
                )
                Self.expect(
                    try place.events(of: ["press": "ctrl+a"]),
                    [
                        ["KeyboardKeysym", 0xFF_FFFF, 1], ["KeyboardKeysym", 0xFF_FFFF, 0],
                        ["KeyboardKeysym", 0xFFE3, 1], ["KeyboardKeysym", 0x61, 1],
                        ["KeyboardKeysym", 0x61, 0], ["KeyboardKeysym", 0xFFE3, 0],
                    ],
                    "a chord"
                )
                Self.expect(
                    try place.events(of: ["type": "A\n"]),
                    [
                        ["KeyboardKeysym", 0x41, 1], ["KeyboardKeysym", 0x41, 0],
                        ["KeyboardKeysym", 0xFF0D, 1], ["KeyboardKeysym", 0xFF0D, 0],
                    ],
                    "a text"
                )
                // The compositor has no keyboard, so its layout is unknown.
                let foreign = try place.call(["type": "aж"])
                #expect(foreign.status == 409 && foreign.body.string("detail")?.contains("'ж'") == true, "\(foreign)")
                #expect(try place.questions() == 1)
            }
        }

        @Test("a screen of another shape than the captured one is not acted on")
        func otherScreen() async throws {
            try await withPortal { place in
                try await place.asked(1)
                try place.desktop.grant(size: "1024x768")
                _ = try await place.granted()
                try await place.relay.put("/v1/devices/default/sessions/shared", [:])
                let answer = try place.call(["click": ["x": 300, "y": 301] as RelayProcess.Object])
                #expect(answer.status == 409 && answer.body.string("code") == "no_input", "\(answer)")
                #expect(answer.body.string("detail")?.contains("1024x768") == true, "\(answer)")
            }
        }

        @Test("devices that a person has not allowed are not offered")
        func devices() async throws {
            try await withPortal { place in
                try await place.asked(1)
                try place.desktop.grant(devices: 1)
                let input = try await place.granted()
                #expect(input["keyboard"] as? Bool == true)
                #expect(input["pointer"] as? Bool == false && input["touch"] as? Bool == false)
                try await place.relay.put("/v1/devices/default/sessions/shared", [:])
                for action in ["click", "tap"] {
                    let answer = try place.call([action: ["x": 300, "y": 301] as RelayProcess.Object])
                    #expect(answer.status == 409 && answer.body.string("code") == "no_input", "\(answer)")
                }
                #expect(try place.events(of: ["type": "a"]).count == 4)
            }
        }

        @Test("a person who refuses is not asked again, until the broadcast starts again")
        func refused() async throws {
            try await withPortal { place in
                try await place.asked(1)
                try place.desktop.refuse()
                try await place.problem("refused")
                let answer = try place.call(["type": "a"])
                #expect(answer.status == 409 && answer.body.string("code") == "no_input", "\(answer)")
                #expect(answer.body.string("detail")?.contains("start it") == true, "\(answer)")
                // Longer than the pause before the portal is asked again.
                try await Task.sleep(for: .seconds(3))
                #expect(try place.questions() == 1)

                try await place.relay.post("/v1/devices/default/broadcast/stop")
                try await place.relay.post("/v1/devices/default/broadcast/start", ["timeout": 60])
                try await place.asked(2)
                try place.desktop.grant()
                _ = try await place.granted()
                #expect(try place.events(of: ["type": "a"]).count == 4)
            }
        }

        @Test("a person who ends the permission ends acting at once, until the broadcast starts again")
        func ended() async throws {
            try await withPortal { place in
                for isUsed in [false, true] {
                    let questions = isUsed ? 2 : 1
                    try await place.asked(questions)
                    try place.desktop.grant()
                    _ = try await place.granted()
                    if isUsed { #expect(try place.events(of: ["type": "a"]).count == 4) }
                    try place.desktop.endGrant()
                    try await place.problem("ended the permission")
                    let answer = try place.call(["type": "a"])
                    #expect(answer.status == 409 && answer.body.string("code") == "no_input", "\(answer)")
                    try await Task.sleep(for: .seconds(3))
                    #expect(try place.questions() == questions)
                    try await place.relay.post("/v1/devices/default/broadcast/stop")
                    try await place.relay.post("/v1/devices/default/broadcast/start", ["timeout": 60])
                }
            }
        }

        @Test("a portal that restarts is asked again")
        func restart() async throws {
            try await withPortal { place in
                try await place.asked(1)
                try place.desktop.grant()
                _ = try await place.granted()
                #expect(try place.events(of: ["type": "a"]).count == 4)
                try place.desktop.restart("portal")
                try await place.asked(2)
                try await place.problem("asks a person")
                try place.desktop.grant()
                _ = try await place.granted()
                #expect(try place.events(of: ["type": "a"]).count == 4)
            }
        }

        @Test("the portal's session ends with an agent that is killed, so that the desktop releases what was held")
        func killed() async throws {
            try await withPortal { place in
                try await place.asked(1)
                try place.desktop.grant()
                _ = try await place.granted()
                let down: RelayProcess.Object = ["type": "keyDown", "value": "a"]
                let keys: RelayProcess.Object = ["type": "key", "id": "keyboard", "actions": [down]]
                let held = try place.events(of: ["actions": [keys]])
                #expect(held.last == ["KeyboardKeysym", "97", "1"], "\(held)")
                let agent = try #require(place.desktop.processes(running: "capture-agent").first)
                #expect(try !place.desktop.remoteCalls().contains(["Close"]))
                kill(agent, SIGKILL)
                _ = try await eventually("the session's end") {
                    try place.desktop.remoteCalls().contains(["Close"]) ? true : nil
                }
            }
        }

        @Test("a portal whose backend lets no program act says so, and so does the doctor")
        func without() async throws {
            try await withPortal(letsProgramsAct: false) { place in
                try await place.problem("xdg-desktop-portal-wlr has none")
                let answer = try place.call(["type": "a"])
                #expect(answer.status == 409 && answer.body.string("code") == "no_input", "\(answer)")
                let finding = try place.diagnosis("portal")
                #expect(finding.verdict == .warning && finding.statement.contains("no RemoteDesktop"), "\(finding)")
            }
        }

        @Test("the doctor says what the portal offers, and asks nobody")
        func doctor() async throws {
            try await withPortal { place in
                try await place.asked(1)
                let portal = try place.diagnosis("portal")
                #expect(portal.verdict == .warning && portal.statement.contains("asks a person"), "\(portal)")
                #expect(portal.statement.contains("touch") && !portal.statement.contains("no touch"), "\(portal)")
                let desktop = try place.diagnosis("auto")
                #expect(desktop.verdict == .ok && desktop.statement.contains("wlroots"), "\(desktop)")
                let off = try place.diagnosis("off")
                #expect(off.verdict == .ok && off.statement.contains("off"), "\(off)")
                #expect(try place.questions() == 1)
            }
        }
    }
}
