import Foundation
import FoundationNetworking
import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests of actions on real desktops. A client that fills the screen says what it got.
    @Suite("Input")
    struct InputTests {
        // MARK: - Pointer

        /// Returns where the window's pointer is if the picture's is in the middle of a pixel.
        private static func expected(
            _ pixel: (x: Int, y: Int),
            in session: PictureSize,
            source: PictureSize = InputPlace.source,
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
            _ place: InputPlace,
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
            try await InputPlace.with(screen) { place in
                var random = SeededGenerator(seed: 1)
                // As large as the screen, smaller, and letterboxed.
                for size in [
                    InputPlace.source, PictureSize(width: 640, height: 360), PictureSize(width: 600, height: 600),
                ] {
                    let name = "of-\(size)"
                    let path = "/v1/devices/default/sessions/\(name)"
                    try await place.relay.put(path, ["width": size.width, "height": size.height])
                    let fit = PictureFit(source: InputPlace.source, output: size)
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
            try await InputPlace.with(.sway) { place in
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
                            in: InputPlace.source,
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
        private func geometry(_ place: InputPlace, session: String) async throws -> String {
            let path = "/v1/devices/default/sessions/\(session)/snapshot.png?fresh=true"
            let url = "http://127.0.0.1:\(place.relay.httpPort)\(path)"
            let (_, response) = try await URLSession.shared.data(from: try #require(URL(string: url)))
            let header = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Heliograph-Geometry")
            return try #require(header)
        }

        @Test("buttons, double clicks, drags and the wheel come as they were asked for", arguments: Screen.allCases)
        func pointer(screen: Screen) async throws {
            try await InputPlace.with(screen) { place in
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
                    let events = try await place.events(after: 0, until: "the touch") {
                        $0.contains { $0.name == "touch" && $0.fields[1] == "up" }
                    }
                    #expect(Self.columnsTouched(in: events) == [5.5], "\(events)")
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
            try await InputPlace.with(screen) { place in
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

        @Test("a touch comes where it was asked for and nowhere else, on a desktop that has a touchscreen already")
        func secondTouchscreen() async throws {
            try await InputPlace.with(.mutter) { place in
                let other = try await RelayProcess(in: place.desktop, arguments: ["--source", Screen.mutter.source])
                defer { other.terminate() }
                try await other.post("/v1/devices/default/broadcast/start", ["timeout": 60])
                for relay in [place.relay, other] { try await relay.put("/v1/devices/default/sessions/whole", [:]) }
                let touch = Self.finger("finger", [Self.move(300, 300), Self.down, Self.pause(4000), Self.up])
                async let held: RelayProcess.Object = place.act(["actions": [touch]])
                try await place.events(after: 0, until: "the finger that stays") {
                    $0.contains { $0.name == "touch" && $0.fields[1] == "down" }
                }
                let body: RelayProcess.Object = ["tap": ["x": 100, "y": 100] as RelayProcess.Object]
                let tap = try place.desktop.callActions("POST", body, of: other)
                #expect(tap.status == 200, "\(tap)")
                _ = try await held
                let events = try await place.events(after: 0, until: "both fingers' end") {
                    $0.filter { $0.name == "touch" && $0.fields[1] == "up" }.count == 2
                }
                #expect(Self.columnsTouched(in: events) == [300.5, 100.5], "\(events)")
            }
        }

        /// How far from the left fingers came down, in order.
        private static func columnsTouched(in events: [InputEvent]) -> [Double?] {
            events.filter { $0.name == "touch" && $0.fields[1] == "down" }.map { $0.place?.x }
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
            try await InputPlace.with(screen) { place in
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
                    try await place.eventuallyNothingIsHeld()
                }
            }
        }

        @Test("chords hold their modifiers, and leave none", arguments: Screen.allCases)
        func chords(screen: Screen) async throws {
            try await InputPlace.with(screen) { place in
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
                    try await place.eventuallyNothingIsHeld()
                }
                let unknown = try place.call("POST", ["press": "ctrl+entr"])
                #expect(unknown.status == 400 && unknown.body.string("detail")?.contains("enter") == true, "\(unknown)")
            }
        }
    }
}
