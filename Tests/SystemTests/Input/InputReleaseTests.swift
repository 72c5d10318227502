import Foundation
import TestSupport
import Testing

extension SystemTests {
    /// Tests of what is held on real desktops: it is released, whatever ends.
    @Suite("Release of input")
    struct InputReleaseTests {
        /// Actions that hold Shift, A and the left button.
        private static var hold: RelayProcess.Object {
            [
                "actions": [
                    [
                        "type": "pointer", "id": "mouse",
                        "actions": [
                            ["type": "pointerMove", "x": 300, "y": 300] as RelayProcess.Object,
                            ["type": "pointerDown", "button": 0] as RelayProcess.Object,
                        ],
                    ] as RelayProcess.Object,
                    [
                        "type": "key", "id": "keyboard",
                        "actions": [
                            ["type": "keyDown", "value": "\u{E008}"] as RelayProcess.Object,
                            ["type": "keyDown", "value": "a"] as RelayProcess.Object,
                        ],
                    ] as RelayProcess.Object,
                ]
            ]
        }

        /// Holds two keys and a button, and returns when the window has them.
        private func hold(_ place: InputPlace) async throws {
            try place.act(Self.hold)
            do {
                _ = try await eventually("all is held", limit: .seconds(1.5)) {
                    try place.held().count == 3 ? true : nil
                }
            } catch let error as NeverCame {
                throw NeverCame(description: "\(error.description); held: \(try place.held())")
            }
        }

        /// Expects that the desktop itself holds nothing: a held key or button would not go down again, and Shift would
        /// change the text.
        private func expectNothingIsHeldInside(_ place: InputPlace) async throws {
            let mark = try place.mark()
            try place.act(["type": "axa"])
            try place.act(["click": ["x": 300, "y": 300] as RelayProcess.Object])
            // Clicks of before were elsewhere.
            func clicks(_ events: [InputEvent]) -> [String] {
                events.filter { $0.name == "button" && abs(($0.place?.x ?? 0) - 300) < 2 }.map { $0.fields[1] }
            }
            let events = try await place.events(after: mark, until: "text and a click") { clicks($0).contains("up") }
            #expect(events.map(\.text).joined() == "axa", "\(events)")
            #expect(clicks(events) == ["down", "up"], "\(events)")
            let modifiers = Set(events.filter { $0.name == "key" && $0.fields[1] == "down" }.map { $0.fields[2] })
            #expect(modifiers == ["-"], "\(events)")
        }

        @Test("what is held is released by DELETE, and after 2 s without actions", arguments: Screen.allCases)
        func release(screen: Screen) async throws {
            try await InputPlace.with(screen) { place in
                try await place.relay.put("/v1/devices/default/sessions/shared", [:])
                try await hold(place)
                #expect(try place.call("DELETE").status == 200)
                try await place.eventuallyNothingIsHeld(limit: .seconds(1))
                #expect(try place.call("DELETE").status == 200, "and once more does no harm")

                try await hold(place)
                let began = ContinuousClock.now
                try await place.eventuallyNothingIsHeld()
                let waited = ContinuousClock.now - began
                #expect(waited > .seconds(1.5) && waited < .seconds(3), "\(waited)")

                // A pause inside the actions does not count as silence.
                let pause: RelayProcess.Object = [
                    "actions": [
                        [
                            "type": "key", "id": "keyboard",
                            "actions": [
                                ["type": "keyDown", "value": "b"] as RelayProcess.Object,
                                ["type": "pause", "duration": 3000] as RelayProcess.Object,
                                ["type": "keyUp", "value": "b"] as RelayProcess.Object,
                            ],
                        ] as RelayProcess.Object
                    ]
                ]
                let mark = try place.mark()
                try place.act(pause)
                let events = try await place.events(after: mark, until: "the key's release") {
                    $0.contains { $0.name == "key" && $0.fields[1] == "up" }
                }.filter { $0.name == "key" && $0.fields[1] != "repeat" }
                #expect(events.count == 2, "\(events)")
                let (down, up) = (try #require(events.first), try #require(events.last))
                #expect(up.time > down.time + 2_900_000_000, "\(events)")
            }
        }

        @Test(
            "what is held is released when the agent is killed or stopped, when it ends, and when the relay is killed",
            arguments: Screen.allCases
        )
        func death(screen: Screen) async throws {
            try await InputPlace.with(screen) { place in
                try await place.relay.put("/v1/devices/default/sessions/shared", [:])
                func agent() async throws -> Int32 {
                    try await eventually("an agent that can act") {
                        let status = try await place.relay.get("/v1/devices/default/broadcast")
                        guard status.string("state") == "live", status.object("source").string("state") == "streaming",
                            status.object("input").string("backend") == screen.backend
                        else { return nil }
                        return Int32(status.object("agent").integer("pid"))
                    }
                }
                func agentThatActs() async throws -> Int32 {
                    let pid = try await agent()
                    _ = try await eventually("a picture to act on") {
                        try place.call("POST", ["click": ["x": 5, "y": 5] as RelayProcess.Object]).status == 200
                            ? true : nil
                    }
                    return pid
                }
                for end in [SIGKILL, SIGSTOP, SIGTERM] {
                    let pid = try await agentThatActs()
                    try await expectNothingIsHeldInside(place)
                    try await hold(place)
                    let began = ContinuousClock.now
                    kill(pid, end)
                    try await place.eventuallyNothingIsHeld(after: "signal \(end)", limit: .seconds(3))
                    let waited = ContinuousClock.now - began
                    // A compositor keeps some of what a stopped agent holds until the guard ends it, after 1 s.
                    let isEndedByGuard = end == SIGSTOP && screen != .xvfb
                    #expect(waited < .seconds(isEndedByGuard ? 2 : 1), "after signal \(end): \(waited)")
                    // The relay replaces an agent that was stopped, too.
                    _ = try await eventually("another agent after signal \(end)", limit: .seconds(60)) {
                        try await agent() == pid ? nil : true
                    }
                }
                _ = try await agentThatActs()
                try await expectNothingIsHeldInside(place)
                try await hold(place)
                place.relay.kill()
                try await place.eventuallyNothingIsHeld(after: "the relay's end", limit: .seconds(1))
            }
        }
    }
}
