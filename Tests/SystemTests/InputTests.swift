import Foundation
import FoundationNetworking
import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests of actions on real desktops. A client that fills the screen says what it got.
    @Suite("Input")
    struct InputTests {
        /// A desktop, and how it is captured.
        enum Screen: String, CaseIterable {
            case sway, xvfb, mutter

            var compositor: Desktop.Compositor {
                switch self {
                case .sway: .sway
                case .xvfb: .xvfb
                case .mutter: .mutter
                }
            }

            var source: String { self == .mutter ? "mutter" : "screenshot" }
            /// The backend that the agent must choose.
            var backend: String { self == .sway ? "wlroots" : self == .xvfb ? "x11" : "mutter" }
        }

        private static let source = PictureSize(width: 1280, height: 720)

        /// A desktop with the logging client, and a relay that broadcasts it. Calls come from the desktop's user, whom
        /// the relay lets act without a key.
        private struct Place {
            let desktop: Desktop
            let relay: RelayProcess

            struct Answer {
                var status: Int
                var body: RelayProcess.Object
            }

            /// Calls the device's actions.
            func call(_ method: String = "POST", _ body: RelayProcess.Object? = nil) throws -> Answer {
                var arguments = ["--silent", "--write-out", "\n%{http_code}", "--request", method]
                if let body {
                    let data = try JSONSerialization.data(withJSONObject: body)
                    arguments += ["--data-binary", String(decoding: data, as: UTF8.self)]
                }
                let url = "http://127.0.0.1:\(relay.httpPort)/v1/devices/default/actions"
                let outcome = try run("curl", arguments + [url])
                let lines = outcome.output.split(separator: "\n")
                guard let status = lines.last.flatMap({ Int($0) }) else {
                    throw NeverCame(description: "\(body ?? [:]): \(outcome)")
                }
                let text = lines.dropLast().joined(separator: "\n")
                let answer = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? RelayProcess.Object
                return Answer(status: status, body: answer ?? [:])
            }

            /// Acts, and expects that it is done.
            @discardableResult
            func act(_ body: RelayProcess.Object) throws -> RelayProcess.Object {
                let answer = try call("POST", body)
                guard answer.status == 200 else { throw NeverCame(description: "\(body): \(answer)") }
                return answer.body
            }

            /// Runs a program in the desktop, as its user.
            func run(_ program: String, _ arguments: [String]) throws -> Programs.Outcome {
                try Programs.run(
                    Programs.desktop,
                    ["exec", desktop.directory.path, program] + arguments,
                    environment: ["HELIOGRAPH_RELAY": "http://127.0.0.1:\(relay.httpPort)"],
                    directory: desktop.directory
                )
            }

            /// The number of events so far.
            func mark() throws -> Int { try desktop.inputEvents().count }

            /// Waits until an event after the first `mark` ones fulfils a condition, and returns all after them.
            @discardableResult
            func events(
                after mark: Int,
                until what: String,
                limit: Duration = .seconds(5),
                _ condition: ([InputEvent]) -> Bool
            ) async throws -> [InputEvent] {
                var last: [InputEvent] = []
                do {
                    return try await eventually(what, limit: limit) {
                        last = Array(try desktop.inputEvents().dropFirst(mark))
                        return condition(last) ? last : nil
                    }
                } catch let error as NeverCame {
                    throw NeverCame(description: "\(error.description); it had \(last.suffix(40))")
                }
            }

            /// The keys, buttons and fingers that are down by now.
            func held() throws -> Set<String> {
                var held: Set<String> = []
                for event in try desktop.inputEvents() {
                    // A window without the keyboard has no keys.
                    if event.name == "focus", event.fields == ["out"] { held = held.filter { !$0.hasPrefix("key") } }
                    guard event.fields.count > 1 else { continue }
                    let thing = "\(event.name) \(event.fields[0].lowercased())"
                    switch (event.name, event.fields[1]) {
                    case ("key", "down"), ("button", "down"), ("touch", "down"): held.insert(thing)
                    case ("key", "up"), ("button", "up"), ("touch", "up"), ("touch", "cancel"): held.remove(thing)
                    default: break
                    }
                }
                return held
            }
        }

        /// - Parameter application: The name of an application that is another logging client, with a log of that name.
        private func withInput(
            _ screen: Screen,
            application: String? = nil,
            _ body: (Place) async throws -> Void
        ) async throws {
            let desktop = try Desktop(screen.compositor, size: Self.source.description, client: false)
            defer { desktop.end() }
            try desktop.startInputLog()
            let client = desktop.directory.appendingPathComponent("bin/input-log-wayland").path
            let run = desktop.directory.appendingPathComponent("run").path
            let applications = application.map { "{\($0): {command: [sh, -c, 'exec \(client) >\(run)/\($0).log']}}" }
            let relay = try await RelayProcess(
                in: desktop,
                arguments: ["--source", screen.source],
                environment: applications.map { ["HELIOGRAPH_RELAY_APPLICATIONS": $0] } ?? [:]
            )
            defer { relay.terminate() }
            try await relay.post("/v1/devices/default/broadcast/start", ["timeout": 60])
            _ = try await eventually("what the agent can do") {
                let input = try await relay.get("/v1/devices/default/broadcast").object("input")
                return input.string("backend") == screen.backend ? true : nil
            }
            try await body(Place(desktop: desktop, relay: relay))
        }

        // MARK: - Pointer

        /// Returns where the window's pointer is if the picture's is in the middle of a pixel.
        private static func expected(
            _ pixel: (x: Int, y: Int),
            in session: PictureSize,
            source: PictureSize = Self.source,
            quarterTurns: Int = 0
        ) -> (x: Double, y: Double) {
            let fit = PictureFit(source: source, output: session)
            let width = Double(source.width), height = Double(source.height)
            let x = (Double(pixel.x - fit.x) + 0.5) / Double(fit.content.width) * width
            let y = (Double(pixel.y - fit.y) + 0.5) / Double(fit.content.height) * height
            return switch quarterTurns {
            case 1: (height - y, x)
            case 2: (width - x, height - y)
            case 3: (y, width - x)
            default: (x, y)
            }
        }

        /// Clicks in the middle of a pixel, and compares where the window got it.
        private func expectClick(
            _ place: Place,
            _ pixel: (x: Int, y: Int),
            session: String,
            at expected: (x: Double, y: Double)
        ) async throws {
            let mark = try place.mark()
            try place.act(["session": session, "click": ["x": pixel.x, "y": pixel.y] as RelayProcess.Object])
            let events = try await place.events(after: mark, until: "the click at \(pixel)") {
                $0.contains { $0.name == "button" && $0.fields[1] == "up" }
            }
            let buttons = events.filter { $0.name == "button" }
            #expect(buttons.map { Array($0.fields.prefix(2)) } == [["272", "down"], ["272", "up"]], "\(events)")
            for button in buttons {
                let found = try #require(button.place)
                // Some desktops only know whole pixels, and some count from a pixel's corner.
                #expect(
                    abs(found.x - expected.x) <= 1 && abs(found.y - expected.y) <= 1,
                    "\(pixel) of \(session): expected \(expected), found \(found)"
                )
            }
        }

        @Test("clicks come where the snapshot's pixel is, in sessions of three sizes", arguments: Screen.allCases)
        func places(screen: Screen) async throws {
            try await withInput(screen) { place in
                var random = SeededGenerator(seed: 1)
                // As large as the screen, smaller, and letterboxed.
                for size in [Self.source, PictureSize(width: 640, height: 360), PictureSize(width: 600, height: 600)] {
                    let name = "of-\(size)"
                    let path = "/v1/devices/default/sessions/\(name)"
                    try await place.relay.put(path, ["width": size.width, "height": size.height])
                    let fit = PictureFit(source: Self.source, output: size)
                    let inside = (
                        x: fit.x...(fit.x + fit.content.width - 1), y: fit.y...(fit.y + fit.content.height - 1)
                    )
                    let corners = [
                        (inside.x.lowerBound, inside.y.lowerBound), (inside.x.upperBound, inside.y.upperBound),
                    ]
                    let others = (0..<10).map { _ in
                        (Int.random(in: inside.x, using: &random), Int.random(in: inside.y, using: &random))
                    }
                    for pixel in corners + others {
                        let expected = Self.expected(pixel, in: size)
                        try await expectClick(place, pixel, session: name, at: expected)
                    }
                    for outside in [(x: size.width, y: 5), (x: 5, y: size.height)] + (fit.y > 0 ? [(x: 5, y: 5)] : []) {
                        let click: RelayProcess.Object = ["x": outside.x, "y": outside.y]
                        let answer = try place.call("POST", ["session": name, "click": click])
                        #expect(answer.status == 400 && answer.body.string("code") == "out_of_range", "\(answer)")
                    }
                }
            }
        }

        @Test("clicks come where the snapshot's pixel is on a screen that is turned; old places are refused")
        func turned() async throws {
            try await withInput(.sway) { place in
                try await place.relay.put("/v1/devices/default/sessions/turned", [:])
                var geometries: Set<String> = []
                for transform in ["90", "180", "270", "normal"] {
                    let before = try place.mark()
                    try place.desktop.turn(transform)
                    let turns = transform == "normal" ? 0 : (Int(transform) ?? 0) / 90
                    let size = turns % 2 == 0 ? ["1280", "720"] : ["720", "1280"]
                    try await place.events(after: before, until: "the other size") {
                        $0.contains { $0.name == "ready" && $0.fields == size }
                    }
                    let session = try await eventually("a picture turned by \(transform)") {
                        let session = try await place.relay.get("/v1/devices/default/sessions/turned")
                        let orientation = session.integer("orientation")
                        return orientation % 2 == turns % 2 && (orientation == 0) == (turns == 0) ? session : nil
                    }
                    let geometry = try await geometry(place, session: "turned")
                    #expect(geometries.insert(geometry).inserted, "each orientation has another geometry")
                    for pixel in [(100, 80), (1200, 600), (640, 10)] {
                        let expected = Self.expected(
                            pixel,
                            in: Self.source,
                            quarterTurns: session.integer("orientation")
                        )
                        try await expectClick(place, pixel, session: "turned", at: expected)
                    }
                    let click: RelayProcess.Object = ["x": 100, "y": 100]
                    for known in geometries {
                        let body: RelayProcess.Object = [
                            "session": "turned", "geometry": Int(known) ?? 0, "click": click,
                        ]
                        let answer = try place.call("POST", body)
                        #expect(answer.status == (known == geometry ? 200 : 409), "\(answer)")
                        if known != geometry { #expect(answer.body.string("code") == "geometry_changed") }
                    }
                }
            }
        }

        /// Returns the geometry of a snapshot of now.
        private func geometry(_ place: Place, session: String) async throws -> String {
            let path = "/v1/devices/default/sessions/\(session)/snapshot.png?fresh=true"
            let url = "http://127.0.0.1:\(place.relay.httpPort)\(path)"
            let (_, response) = try await URLSession.shared.data(from: try #require(URL(string: url)))
            let header = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Heliograph-Geometry")
            return try #require(header)
        }

        @Test("buttons, double clicks, drags and the wheel come as they were asked for", arguments: Screen.allCases)
        func pointer(screen: Screen) async throws {
            try await withInput(screen) { place in
                try await place.relay.put("/v1/devices/default/sessions/shared", [:])
                for (name, code) in [("right", "273"), ("middle", "274")] {
                    let mark = try place.mark()
                    let click: RelayProcess.Object = ["x": 300, "y": 300, "button": name, "count": 2]
                    try place.act(["click": click])
                    let events = try await place.events(after: mark, until: "two clicks") {
                        $0.filter { $0.name == "button" }.count == 4
                    }
                    let buttons = events.filter { $0.name == "button" }.map { Array($0.fields.prefix(2)) }
                    #expect(buttons == [[code, "down"], [code, "up"], [code, "down"], [code, "up"]], "\(events)")
                }

                var mark = try place.mark()
                try place.act([
                    "drag": ["from": [200, 400], "to": [600, 500], "duration": 0.2] as RelayProcess.Object
                ])
                var events = try await place.events(after: mark, until: "the drag") {
                    $0.contains { $0.name == "button" && $0.fields[1] == "up" }
                }
                let buttons = events.filter { $0.name == "button" }
                let (from, to) = (try #require(buttons.first?.place), try #require(buttons.last?.place))
                #expect(abs(from.x - 200.5) <= 1 && abs(from.y - 400.5) <= 1, "\(events)")
                #expect(abs(to.x - 600.5) <= 1 && abs(to.y - 500.5) <= 1, "\(events)")
                let moves = events.filter { $0.name == "motion" }.compactMap(\.place)
                #expect(moves.count > 5 && moves.map(\.x) == moves.map(\.x).sorted(), "\(moves)")

                for (dx, dy) in [(0, 240), (0, -240), (240, 0), (-240, 0), (240, 120), (-120, -240)] {
                    mark = try place.mark()
                    try place.act(["scroll": ["x": 300, "y": 300, "dx": dx, "dy": dy] as RelayProcess.Object])
                    events = try await place.events(after: mark, until: "the wheel") {
                        $0.contains { $0.name == "wheel" }
                    }
                    let turns = events.filter { $0.name == "wheel" }.map { $0.fields.compactMap(Double.init) }
                    func sum(_ field: Int) -> Double { turns.map { $0[field] }.reduce(0, +) }
                    let (x, y) = (sum(0) + sum(2), sum(1) + sum(3))
                    #expect(x.sign == Double(dx).sign || dx == 0, "\(turns)")
                    #expect(y.sign == Double(dy).sign || dy == 0, "\(turns)")
                    #expect((x != 0) == (dx != 0) && (y != 0) == (dy != 0), "\(turns)")
                }

                let touch = try place.call("POST", ["tap": ["x": 5, "y": 5] as RelayProcess.Object])
                let input = try await place.relay.get("/v1/devices/default/broadcast").object("input")
                if input["touch"] as? Bool == true {
                    #expect(touch.status == 200, "\(touch)")
                    try await place.events(after: 0, until: "the touch") {
                        $0.contains { $0.name == "touch" && $0.fields[1] == "up" }
                    }
                } else {
                    #expect(touch.status == 409 && touch.body.string("code") == "no_input", "\(touch)")
                }
            }
        }

        // MARK: - WebDriver's examples

        private static func finger(_ id: String, _ actions: [RelayProcess.Object]) -> RelayProcess.Object {
            [
                "type": "pointer", "id": id, "parameters": ["pointerType": "touch"] as RelayProcess.Object,
                "actions": actions,
            ]
        }

        private static func move(_ x: Int, _ y: Int, _ more: RelayProcess.Object = [:]) -> RelayProcess.Object {
            (["type": "pointerMove", "x": x, "y": y, "duration": 0] as RelayProcess.Object)
                .merging(more) { $1 }
        }

        private static let down: RelayProcess.Object = ["type": "pointerDown", "button": 0]
        private static let up: RelayProcess.Object = ["type": "pointerUp", "button": 0]
        private static let nothing: RelayProcess.Object = ["type": "pause"]

        private static func pause(_ milliseconds: Int) -> RelayProcess.Object {
            ["type": "pause", "duration": milliseconds]
        }

        /// The examples with two fingers (WebDriver, section 15), with pauses of half a second. Beside them is what the
        /// window must get: a finger, counted from its first press, and what it does. Moves count once.
        private static let fingers: [(actions: [RelayProcess.Object], order: [String])] = [
            // The pinch: from one place, both ways.
            (
                [
                    finger(
                        "finger1",
                        [move(600, 360), down, pause(500), move(-100, 0, ["origin": "pointer", "duration": 500]), up]
                    ),
                    finger(
                        "finger2",
                        [move(680, 360), down, pause(500), move(100, 0, ["origin": "pointer", "duration": 500]), up]
                    ),
                ],
                ["0 down", "1 down", "0 move", "1 move", "0 up", "1 up"]
            ),
            // One finger waits while the other one moves.
            (
                [
                    finger("source 1", [move(200, 200), down, pause(500), up]),
                    finger("source 2", [move(400, 200), down, move(400, 400), up]),
                ],
                ["0 down", "1 down", "1 move", "0 up", "1 up"]
            ),
            // One finger waits while the other one is lifted.
            (
                [
                    finger("source 1", [move(200, 200), down, pause(500), up]),
                    finger("source 2", [move(400, 200), down, up]),
                ],
                ["0 down", "1 down", "1 up", "0 up"]
            ),
            // One finger does nothing in the second tick.
            (
                [
                    finger("source 1", [move(200, 200), down, move(200, 400), up]),
                    finger("source 2", [move(400, 200), down, nothing, up]),
                ],
                ["0 down", "1 down", "0 move", "0 up", "1 up"]
            ),
        ]

        @Test("WebDriver's examples are done: a key in two ticks, and fingers that wait", arguments: Screen.allCases)
        func examples(screen: Screen) async throws {
            try await withInput(screen) { place in
                try await place.relay.put("/v1/devices/default/sessions/shared", [:])
                let mark = try place.mark()
                try place.act([
                    "actions": [
                        [
                            "type": "key", "id": "keyboard",
                            "actions": [["type": "keyDown", "value": "k"], ["type": "keyUp", "value": "k"]],
                        ] as RelayProcess.Object
                    ]
                ])
                let events = try await place.events(after: mark, until: "the key") {
                    $0.contains { $0.name == "key" && $0.fields[1] == "up" }
                }
                let keys = events.filter { $0.name == "key" }.map { Array($0.fields.prefix(2)) }
                #expect(keys == [["k", "down"], ["k", "up"]], "\(events)")
                guard screen == .mutter else {
                    let answer = try place.call("POST", ["actions": Self.fingers[0].actions])
                    #expect(answer.status == 409 && answer.body.string("code") == "no_input", "\(answer)")
                    return
                }
                for (actions, order) in Self.fingers {
                    let mark = try place.mark()
                    try place.act(["actions": actions])
                    let events = try await place.events(after: mark, until: "both fingers' end") {
                        $0.filter { $0.name == "touch" && $0.fields[1] == "up" }.count == 2
                    }
                    #expect(Self.touchOrder(events) == order, "\(events)")
                }
            }
        }

        /// Returns what the fingers do in order, their moves only once. Fingers are counted from their first press.
        private static func touchOrder(_ events: [InputEvent]) -> [String] {
            var (fingers, order) = ([String](), [String]())
            for event in events where event.name == "touch" {
                if !fingers.contains(event.fields[0]) { fingers.append(event.fields[0]) }
                let text = "\(fingers.firstIndex(of: event.fields[0])!) \(event.fields[1])"
                if event.fields[1] != "move" || !order.contains(text) { order.append(text) }
            }
            return order
        }

        // MARK: - Keyboard

        private static let printable = String(String.UnicodeScalarView((0x20...0x7E).compactMap(Unicode.Scalar.init)))

        @Test("text comes whole, with characters that the layout lacks", arguments: Screen.allCases)
        func text(screen: Screen) async throws {
            try await withInput(screen) { place in
                let input = try await place.relay.get("/v1/devices/default/broadcast").object("input")
                var texts = [Self.printable, "one\ttwo\nthree", String(repeating: "Abc1! ", count: 200)]
                if input["anyCharacter"] as? Bool == true { texts.append("Grüße, Łódź, 日本語, 12 €, Ωμέγα 👋") }
                // Mutter only has the characters of the layout.
                #expect(texts.count == 4 || screen == .mutter)
                for text in texts {
                    let mark = try place.mark()
                    let answer = try place.act(["type": text])
                    #expect(answer.integer("steps") == 1)
                    let count = text.unicodeScalars.count
                    let events = try await place.events(after: mark, until: "\(count) characters") {
                        $0.map(\.text).joined().unicodeScalars.count >= count
                    }
                    #expect(events.map(\.text).joined() == text.replacing("\n", with: "\r"))
                    #expect(!events.contains { $0.name == "key" && $0.fields[1] == "repeat" })
                    try await eventuallyNothingIsHeld(place)
                }
            }
        }

        @Test("chords hold their modifiers, and leave none", arguments: Screen.allCases)
        func chords(screen: Screen) async throws {
            try await withInput(screen) { place in
                for (chord, key, modifiers) in [
                    ("ctrl+s", "s", ["ctrl"]), ("ctrl+shift+t", "t", ["ctrl", "shift"]), ("alt+x", "x", ["alt"]),
                    ("super+y", "y", ["super"]), ("enter", "return", []), ("shift+left", "left", ["shift"]),
                ] {
                    let mark = try place.mark()
                    try place.act(["press": chord])
                    let events = try await place.events(after: mark, until: "the end of \(chord)") {
                        $0.contains { $0.name == "key" && $0.fields[0].lowercased() == key && $0.fields[1] == "up" }
                    }
                    let down = try #require(
                        events.first { $0.name == "key" && $0.fields[0].lowercased() == key && $0.fields[1] == "down" },
                        "\(events)"
                    )
                    let found = down.fields[2].split(separator: "+").filter { $0 != "-" }.map(String.init)
                    #expect(Set(found) == Set(modifiers), "\(chord): \(events)")
                    try await eventuallyNothingIsHeld(place)
                }
                let unknown = try place.call("POST", ["press": "ctrl+entr"])
                #expect(unknown.status == 400 && unknown.body.string("detail")?.contains("enter") == true, "\(unknown)")
            }
        }

        // MARK: - Release

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

        private func eventuallyNothingIsHeld(
            _ place: Place,
            after cause: String = "the end of actions",
            limit: Duration = .seconds(5)
        ) async throws {
            var held: Set<String> = []
            do {
                _ = try await eventually("nothing is held", limit: limit) {
                    held = try place.held()
                    return held.isEmpty ? true : nil
                }
            } catch is NeverCame {
                let events = try place.desktop.inputEvents().suffix(20)
                throw NeverCame(description: "after \(cause), \(held) are still held: \(Array(events))")
            }
        }

        /// Holds two keys and a button, and returns when the window has them.
        private func hold(_ place: Place) async throws {
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
        private func expectNothingIsHeldInside(_ place: Place) async throws {
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
            try await withInput(screen) { place in
                try await place.relay.put("/v1/devices/default/sessions/shared", [:])
                try await hold(place)
                #expect(try place.call("DELETE").status == 200)
                try await eventuallyNothingIsHeld(place, limit: .seconds(1))
                #expect(try place.call("DELETE").status == 200, "and once more does no harm")

                try await hold(place)
                let began = ContinuousClock.now
                try await eventuallyNothingIsHeld(place)
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
            try await withInput(screen) { place in
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
                    try await eventuallyNothingIsHeld(place, after: "signal \(end)", limit: .seconds(3))
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
                try await eventuallyNothingIsHeld(place, after: "the relay's end", limit: .seconds(1))
            }
        }

        // MARK: - Callers

        @Test("without keys, only processes of the relay's own user on this machine may act, and through no proxy")
        func rights() async throws {
            try await withInput(.xvfb) { place in
                try place.act(["type": "a"])
                let url = "http://127.0.0.1:\(place.relay.httpPort)/v1/devices/default/actions"
                for header in ["X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1", "Via: 1.1 proxy"] {
                    let outcome = try place.run(
                        "curl",
                        ["--silent", "--header", header, "--data-binary", #"{"type": "a"}"#, url]
                    )
                    #expect(outcome.output.contains("forbidden_caller"), "\(header): \(outcome)")
                }
                // Tests that run as root have another user than the desktop.
                guard getuid() == 0 else { return }
                let refusal = await #expect(throws: RelayProcess.Refusal.self) {
                    try await place.relay.post("/v1/devices/default/actions", ["type": "a"])
                }
                #expect(refusal?.status == 403 && refusal?.code == "forbidden_caller", "\(String(describing: refusal))")
                #expect(refusal?.detail.contains("controller") == true, "\(String(describing: refusal))")
            }
        }

        @Test("the commands act, and say what is wrong")
        func commands() async throws {
            try await withInput(.sway) { place in
                let staged = try Programs.run(
                    Programs.desktop,
                    ["stage", place.desktop.directory.path, Programs.product("heliograph").path]
                )
                #expect(staged.status == 0, "\(staged.errors)")
                try await place.relay.put("/v1/devices/default/sessions/small", ["width": 640, "height": 360])
                let file = place.desktop.directory.appendingPathComponent("actions.json")
                try #"{"press": "f5"}"#.write(to: file, atomically: true, encoding: .utf8)
                for (line, name, fields) in [
                    ("click 150,50 --session small", "button", ["272", "up"]),
                    ("click 150,50 --button right --count 2", "button", ["273", "up"]),
                    ("drag 20,20 100,100 --duration 0", "button", ["272", "up"]),
                    ("scroll 150,50 --down 120", "wheel", []),
                    ("type --device default x", "key", ["x", "up"]),
                    ("press ctrl+a delete", "key", ["Delete", "up"]),
                    ("actions \(file.path)", "key", ["F5", "up"]),
                ] {
                    let mark = try place.mark()
                    let outcome = try place.run("heliograph", line.split(separator: " ").map(String.init))
                    #expect(outcome.status == 0 && outcome.output.contains("done at"), "\(line): \(outcome)")
                    try await place.events(after: mark, until: line) {
                        $0.contains { $0.name == name && $0.fields.starts(with: fields) }
                    }
                }
                let released = try place.run("heliograph", ["release"])
                #expect(released.status == 0 && released.output.contains("released"), "\(released)")
                let json = try place.run("heliograph", ["press", "enter", "--json"])
                #expect(json.status == 0 && json.output.contains(#""pts":"#), "\(json)")
                for (line, status, complaint) in [
                    ("click 5", 64, "5"), ("click 9,9 --count 0", 64, "1 to 10"), ("scroll 5,5", 64, "--down"),
                    ("click 700,10 --session small", 1, "out_of_range"), ("tap 5,5", 1, "no_input"),
                    ("press ctrl+entr", 1, "enter"), ("actions /nowhere.json", 1, "nowhere.json"),
                ] {
                    let outcome = try place.run("heliograph", line.split(separator: " ").map(String.init))
                    #expect(
                        outcome.status == status && outcome.errors.contains(complaint),
                        "\(line): \(outcome)"
                    )
                }
            }
        }

        @Test("the examples launch an application, click the button that they wait for, type, and save the screen")
        func examples() async throws {
            try await withInput(.sway, application: "form") { place in
                let directory = place.desktop.directory
                let staged = try Programs.run(
                    Programs.desktop,
                    ["stage", directory.path, Programs.product("heliograph").path]
                )
                #expect(staged.status == 0, "\(staged.errors)")
                try await place.relay.put("/v1/devices/default/sessions/look", [:])
                // The desktop's user must be able to read the picture, and to write its own.
                let work = directory.appendingPathComponent("work")
                try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
                chmod(work.path, 0o777)
                for name in ["act-in-a-shell", "act_in_python.py"] {
                    let copy = work.appendingPathComponent(name)
                    try FileManager.default.copyItem(
                        at: Programs.repository.appendingPathComponent("Examples/\(name)"),
                        to: copy
                    )
                    chmod(copy.path, 0o755)
                }
                let clients = work.appendingPathComponent("python")
                try FileManager.default.copyItem(
                    at: Programs.repository.appendingPathComponent("Clients/python/heliograph"),
                    to: clients.appendingPathComponent("heliograph", isDirectory: true)
                )
                // Its top left corner is at 100,80: Tests/Desktop/input_log.h.
                let picture = work.appendingPathComponent("button.png").path
                let screen = work.appendingPathComponent("screen.png").path
                let seen = try place.run("heliograph", ["snapshot", "look", "--fresh", "--output", screen])
                #expect(seen.status == 0, "\(seen.errors)")
                _ = try Tool.run(
                    "/usr/bin/ffmpeg",
                    [
                        "-v", "error", "-nostdin", "-y", "-i", screen, "-vf", "crop=80:30:100:80", "-pix_fmt", "rgba",
                        "-update", "1", picture,
                    ]
                )
                for program in [["bash", "act-in-a-shell"], ["python3", "act_in_python.py"]] {
                    let outcome = try place.run(
                        "env",
                        [
                            "--chdir", work.path, "PYTHONPATH=\(clients.path)", "PYTHONDONTWRITEBYTECODE=1",
                            "HELIOGRAPH_RELAY=http://127.0.0.1:\(place.relay.httpPort)",
                        ] + program + ["form", "button.png", "100,80", "Hello"]
                    )
                    #expect(outcome.status == 0, "\(outcome)")
                    let events = try place.desktop.inputEvents(in: "form")
                    let click = try #require(events.first { $0.name == "button" && $0.fields[1] == "down" }?.place)
                    #expect(abs(click.x - 105.5) <= 1 && abs(click.y - 85.5) <= 1, "\(click)")
                    #expect(events.map(\.text).joined() == "Hello\r", "\(events)")
                    #expect(FileManager.default.fileExists(atPath: work.appendingPathComponent("after.png").path))
                    try FileManager.default.removeItem(at: work.appendingPathComponent("after.png"))
                    // No pointer covers the button of the next one.
                    try place.act(["session": "look", "click": ["x": 900, "y": 600] as RelayProcess.Object])
                }
            }
        }
    }
}
