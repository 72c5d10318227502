import HeliographAPI
import Testing
import Wire

@Suite("Actions become steps")
struct ActionPlanTests {
    /// Reads a body as the relay does, and plans it.
    private static func plan(_ body: String) throws -> ActionPlan {
        guard case .object(let members) = try JSONValue(parsing: body.utf8) else { throw NotAnObject() }
        return try ActionsRequest(reading: members).plan()
    }

    private struct NotAnObject: Error {}

    private static func steps(_ body: String) throws -> [InputStep] { try plan(body).steps }

    /// Returns the first issue or the fault of a body.
    private static func fault(_ body: String) -> (field: String?, text: String) {
        do {
            _ = try plan(body)
            return (nil, "none")
        } catch let issues as FieldIssues {
            return (issues.all[0].name, issues.all[0].description)
        } catch let fault as ActionFault {
            return (fault.field, fault.detail)
        } catch {
            return (nil, "\(error)")
        }
    }

    private static func touch(_ id: UInt8, _ phase: InputStep.TouchPhase, _ x: Double, _ y: Double) -> InputStep {
        .touch(id: id, phase: phase, x: x, y: y)
    }

    // MARK: The short forms

    @Test("of a click: whole numbers mean the middle of a pixel")
    func click() throws {
        let left: [InputStep] = [
            .button(0x110, isDown: true), .pause(milliseconds: 20), .button(0x110, isDown: false),
        ]
        #expect(try Self.steps(#"{"click": {"x": 10, "y": 20.25}}"#) == [.pointer(x: 10.5, y: 20.25)] + left)
        let double = [.pointer(x: 0.5, y: 0.5)] + left + [.pause(milliseconds: 60)] + left
        #expect(try Self.steps(#"{"doubleClick": {"x": 0, "y": 0}}"#) == double)
        #expect(try Self.steps(#"{"click": {"x": 0, "y": 0, "count": 2, "button": "left"}}"#) == double)
        let others = [("right", UInt16(0x111)), ("middle", 0x112), ("back", 0x113), ("forward", 0x114)]
        for (name, code) in others {
            let steps = try Self.steps(#"{"click": {"x": 0, "y": 0, "button": "\#(name)"}}"#)
            #expect(steps.contains(.button(code, isDown: true)), "\(name)")
        }
    }

    @Test("of a finger: tap and swipe, 60 positions in a second")
    func touches() throws {
        #expect(
            try Self.steps(#"{"tap": {"x": 1, "y": 2}}"#) == [
                Self.touch(0, .down, 1.5, 2.5), .pause(milliseconds: 50), Self.touch(0, .up, 1.5, 2.5),
            ]
        )
        let plan = try Self.plan(#"{"swipe": {"from": [0, 0], "to": [60, 0], "duration": 0.1}}"#)
        #expect(plan.milliseconds == 100)
        #expect(plan.steps.first == Self.touch(0, .down, 0.5, 0.5))
        let places = plan.steps.compactMap { if case .touch(_, .move, let x, _) = $0 { x } else { nil } }
        #expect(places == [10.5, 20.5, 30.5, 40.5, 50.5, 60.5])
        #expect(plan.steps.last == Self.touch(0, .up, 60.5, 0.5))
        let drag = try Self.plan(#"{"drag": {"from": [0, 0], "to": [9, 9], "duration": 0, "button": "middle"}}"#)
        #expect(
            drag.steps == [
                .pointer(x: 0.5, y: 0.5), .button(0x112, isDown: true), .pause(milliseconds: 50),
                .pointer(x: 9.5, y: 9.5), .pause(milliseconds: 50), .button(0x112, isDown: false),
            ]
        )
    }

    @Test("of a wheel, of text and of chords")
    func others() throws {
        #expect(
            try Self.steps(#"{"scroll": {"x": 1, "y": 1, "dy": 240}}"#) == [
                .pointer(x: 1.5, y: 1.5), .scroll(dx: 0, dy: 240),
            ]
        )
        let typed = try Self.plan(#"{"type": "naïve\r\n\t🙂"}"#)
        #expect(typed.steps == [.text("naïve\n\t🙂")] && typed.characters == 8 && !typed.hasPlaces)
        #expect(
            try Self.steps(#"{"press": "ctrl+shift+t"}"#) == [
                .key(keysym: 0xFFE3, isDown: true), .key(keysym: 0xFFE1, isDown: true),
                .key(keysym: 0x74, isDown: true), .pause(milliseconds: 20), .key(keysym: 0x74, isDown: false),
                .key(keysym: 0xFFE1, isDown: false), .key(keysym: 0xFFE3, isDown: false),
            ]
        )
        let resized = try Self.plan(#"{"resize": {"width": 1281, "height": 720}}"#)
        #expect(resized.steps == [.resize(width: 1280, height: 720)] && !resized.hasPlaces)
        let two = try Self.steps(#"{"press": "ctrl+a Delete"}"#)
        #expect(two.filter { if case .key(_, true) = $0 { true } else { false } }.count == 3)
    }

    // MARK: WebDriver's

    @Test("of WebDriver's pinch: two fingers move apart at once")
    func pinch() throws {
        // The specification's example of a chain for each finger (WebDriver, section 15.1).
        func finger(_ id: String, _ distance: Int) -> String {
            """
            {"type": "pointer", "id": "\(id)", "parameters": {"pointerType": "touch"}, "actions": [
              {"type": "pointerMove", "duration": 0, "x": 100, "y": 100},
              {"type": "pointerDown", "button": 0},
              {"type": "pause", "duration": 500},
              {"type": "pointerMove", "duration": 1000, "origin": "pointer", "x": \(distance), "y": 0},
              {"type": "pointerUp", "button": 0}]}
            """
        }
        let plan = try Self.plan(#"{"actions": [\#(finger("finger1", -50)), \#(finger("finger2", 50))]}"#)
        #expect(plan.milliseconds == 1500 && plan.hasPlaces)
        let touches = plan.steps.filter { if case .touch = $0 { true } else { false } }
        #expect(touches.prefix(2) == [Self.touch(0, .down, 100.5, 100.5), Self.touch(1, .down, 100.5, 100.5)])
        #expect(touches.suffix(2) == [Self.touch(0, .up, 50.5, 100.5), Self.touch(1, .up, 150.5, 100.5)])
        #expect(touches.count == 2 + 2 * 60 + 2)
        // In the middle, both are half way.
        #expect(touches.contains(Self.touch(0, .move, 75.5, 100.5)))
        #expect(touches.contains(Self.touch(1, .move, 125.5, 100.5)))
        // Their positions alternate: neither moves before the other.
        #expect(touches[2] != touches[4] && touches[3] != touches[5])
        #expect(plan.steps[2] == .pause(milliseconds: 500))
    }

    /// The specification's diagrams of ticks (WebDriver, section 15): what each finger does beside its first press.
    static let diagrams: [(first: [String], second: [String], milliseconds: Int, order: [String])] = [
        (["pause 5000", "up"], ["move", "up"], 5000, ["0 down", "1 down", "1 move", "wait", "0 up", "1 up"]),
        // A list may be shorter than another one.
        (["pause 5000", "up"], ["up"], 5000, ["0 down", "1 down", "1 up", "wait", "0 up"]),
        // A pause without a duration does nothing in its tick.
        (["move", "up"], ["pause", "up"], 0, ["0 down", "1 down", "0 move", "0 up", "1 up"]),
    ]

    @Test("of WebDriver's diagrams: each tick ends when its longest action has ended", arguments: diagrams.indices)
    func ticks(index: Int) throws {
        func chain(_ id: String, at x: Int, _ actions: [String]) -> String {
            let rest = actions.map { action in
                let words = action.split(separator: " ")
                return switch words[0] {
                case "move": #"{"type": "pointerMove", "x": \#(x), "y": 90, "duration": 0}"#
                case "pause": #"{"type": "pause"\#(words.count > 1 ? #", "duration": \#(words[1])"# : "")}"#
                default: #"{"type": "pointerUp"}"#
                }
            }
            let begin = [#"{"type": "pointerMove", "x": \#(x), "y": 10, "duration": 0}"#, #"{"type": "pointerDown"}"#]
            return """
                {"type": "pointer", "id": "\(id)", "parameters": {"pointerType": "touch"},
                 "actions": [\((begin + rest).joined(separator: ", "))]}
                """
        }
        let diagram = Self.diagrams[index]
        let fingers = [chain("source 1", at: 100, diagram.first), chain("source 2", at: 200, diagram.second)]
        let plan = try Self.plan(#"{"actions": [\#(fingers.joined(separator: ", "))]}"#)
        #expect(plan.milliseconds == diagram.milliseconds)
        let order = plan.steps.map { step in
            switch step {
            case .touch(let id, let phase, _, _): "\(id) \(phase)"
            case .pause: "wait"
            default: "\(step)"
            }
        }
        #expect(order == diagram.order)
    }

    @Test("of WebDriver's key source, tick after tick with a pointer")
    func keys() throws {
        // Shift is held while the mouse clicks.
        let plan = try Self.plan(
            """
            {"actions": [
              {"type": "key", "id": "keyboard", "actions": [
                {"type": "keyDown", "value": "\\uE008"}, {"type": "pause"}, {"type": "pause"},
                {"type": "keyUp", "value": "\\uE008"}]},
              {"type": "pointer", "id": "mouse", "actions": [
                {"type": "pointerMove", "x": 7, "y": 8, "duration": 250},
                {"type": "pointerDown", "button": 2}, {"type": "pointerUp", "button": 2}]}]}
            """
        )
        #expect(
            plan.steps == [
                // It comes from an unknown place, so it arrives at the end.
                .key(keysym: 0xFFE1, isDown: true), .pause(milliseconds: 250), .pointer(x: 7.5, y: 8.5),
                .button(0x111, isDown: true), .button(0x111, isDown: false), .key(keysym: 0xFFE1, isDown: false),
            ]
        )
        let text = try Self.steps(
            """
            {"actions": [{"type": "key", "id": "k", "actions": [
              {"type": "keyDown", "value": "a"}, {"type": "keyUp", "value": "a"},
              {"type": "keyDown", "value": "€"}, {"type": "keyUp", "value": "€"}]}]}
            """
        )
        #expect(text[0] == .key(keysym: 0x61, isDown: true) && text[2] == .key(keysym: 0x0100_20AC, isDown: true))
    }

    @Test("of pauses: a tick lasts as long as its longest action")
    func pauses() throws {
        let plan = try Self.plan(
            """
            {"actions": [
              {"type": "none", "id": "n", "actions": [{"type": "pause", "duration": 12000}, {"type": "pause"}]},
              {"type": "key", "id": "k", "actions": [
                {"type": "keyDown", "value": "x"}, {"type": "keyUp", "value": "x"}]}]}
            """
        )
        #expect(
            plan.steps == [
                .key(keysym: 0x78, isDown: true), .pause(milliseconds: 10_000), .pause(milliseconds: 2000),
                .key(keysym: 0x78, isDown: false),
            ]
        )
    }

    @Test("of a wheel: parts of at least a notch")
    func wheel() throws {
        func wheel(_ distance: Int, _ duration: Int) -> String {
            """
            {"actions": [{"type": "wheel", "id": "w", "actions": [{"type": "scroll", "x": 5, "y": 5, "deltaX": 0, \
            "deltaY": \(distance), "duration": \(duration), "origin": "viewport"}]}]}
            """
        }
        #expect(
            try Self.steps(wheel(-100, 100)) == [
                .pointer(x: 5.5, y: 5.5), .pause(milliseconds: 100), .scroll(dx: 0, dy: -100),
            ]
        )
        let long = try Self.steps(wheel(480, 400))
        #expect(long.filter { $0 == .scroll(dx: 0, dy: 120) }.count == 4)
    }

    @Test("of a mouse that moves from where it is")
    func relative() throws {
        let steps = try Self.steps(
            """
            {"actions": [{"type": "pointer", "id": "m", "actions": [
              {"type": "pointerMove", "x": 4, "y": -2, "origin": "pointer", "duration": 0},
              {"type": "pointerMove", "x": 10, "y": 10, "duration": 0},
              {"type": "pointerMove", "x": 4, "y": -2, "origin": "pointer", "duration": 0}]}]}
            """
        )
        #expect(steps == [.pointerBy(dx: 4, dy: -2), .pointer(x: 10.5, y: 10.5), .pointer(x: 14.5, y: 8.5)])
    }

    @Test("takes what WebDriver's clients send beside, and ignores it")
    func clients() throws {
        // As Selenium's Python client writes it.
        let steps = try Self.steps(
            """
            {"actions": [
              {"type": "pointer", "parameters": {"pointerType": "mouse"}, "id": "mouse", "actions": [
                {"type": "pointerMove", "duration": 0, "x": 3, "y": 4, "origin": "viewport", "width": 1, "pressure": 0.5},
                {"type": "pointerDown", "duration": 0, "button": 0}, {"type": "pointerUp", "duration": 0, "button": 0}]},
              {"type": "key", "id": "key", "actions": [
                {"type": "pause", "duration": 0}, {"type": "pause", "duration": 0}, {"type": "pause", "duration": 0}]}]}
            """
        )
        #expect(
            steps == [.pointer(x: 3.5, y: 4.5), .button(0x110, isDown: true), .button(0x110, isDown: false)]
        )
    }

    // MARK: What is refused

    private static func source(_ type: String, _ actions: String, _ more: String = "") -> String {
        #"{"actions": [{"type": "\#(type)", "id": "a"\#(more), "actions": [\#(actions)]}]}"#
    }

    private static let touchSource = #", "parameters": {"pointerType": "touch"}"#

    static let refused: [(body: String, field: String?, part: String)] = [
        (#"{}"#, "actions", "one of these is needed"),
        (#"{"click": {"x": 1, "y": 1}, "type": "a"}"#, "type", "does not go with click"),
        (#"{"click": {"x": 1}}"#, "click.y", "is missing"),
        (#"{"click": {"x": 1, "y": 1, "count": 11}}"#, "click.count", "allowed"),
        (#"{"swipe": {"from": [1], "to": [2, 2]}}"#, "swipe.from", "has 1 elements; allowed: 2"),
        (#"{"swipe": {"from": [1, "2"], "to": [2, 2]}}"#, "swipe.from.1", "a number is expected"),
        (#"{"scroll": {"x": 1, "y": 1}}"#, "scroll.dy", "needs a distance"),
        ("{\"type\": \"a\\u0007\"}", "type", "U+0007"),
        (#"{"press": "ctrl+entr"}"#, "press", "Did you mean 'enter'?"),
        (#"{"press": "ctrl+"}"#, "press", "Unknown key ''"),
        (#"{"press": " "}"#, "press", "0 chords"),
        (#"{"resize": {"width": 1280}}"#, "resize.height", "is missing"),
        (#"{"resize": {"width": 15, "height": 720}}"#, "resize.width", "allowed"),
        (#"{"actions": []}"#, "actions", "has 0 elements"),
        (source("mouse", ""), "actions.0.type", "allowed: none, key, pointer, wheel"),
        (source("key", #"{"type": "pointerUp"}"#), "actions.0.actions.0.type", "allowed"),
        (source("key", #"{"type": "keyDown", "value": "ab"}"#), "actions.0.actions.0", "one character"),
        (source("key", #"{"type": "keyDown", "value": "\uE05F"}"#), "actions.0.actions.0", "U+E05F"),
        (
            source("pointer", #"{"type": "pointerMove", "x": 1, "y": 1, "origin": {"element-6066": "e1"}}"#),
            "actions.0.actions.0.origin", "is an element"
        ),
        (
            source("pointer", "", #", "parameters": {"pointerType": "pen"}"#), "actions.0.parameters.pointerType",
            "mouse or touch"
        ),
        (source("pointer", #"{"type": "pointerDown"}"#, touchSource), "actions.0.actions.0", "needs a pointerMove"),
        (
            source("pointer", #"{"type": "pointerMove", "x": 1, "y": 1}, {"type": "pointerUp"}"#, touchSource),
            "actions.0.actions.1", "is not down"
        ),
        (
            source("pointer", #"{"type": "pointerMove", "x": 1, "y": 1, "origin": "pointer"}"#, touchSource),
            "actions.0.actions.0", "origin viewport"
        ),
        (source("pointer", #"{"type": "pointerCancel"}"#), "actions.0.actions.0", "not for a mouse"),
        (source("none", #"{"type": "pause", "duration": 60001}"#), "actions.0.actions.0.duration", "allowed"),
        (source("none", #"{"type": "pause", "duration": 40000}, {"type": "pause", "duration": 40000}"#), nil, "60 s"),
        (
            #"{"actions": [{"type": "none", "id": "a", "actions": []}, {"type": "key", "id": "a", "actions": []}]}"#,
            "actions", "two sources"
        ),
    ]

    @Test("refuses what makes no sense, and says where", arguments: refused.indices)
    func refusals(index: Int) {
        let refused = Self.refused[index]
        let fault = Self.fault(refused.body)
        #expect(fault.field == refused.field, "\(refused.body): \(fault.text)")
        #expect(fault.text.contains(refused.part), "\(refused.body): \(fault.text)")
    }

    @Test("has no place that an order cannot say")
    func farAway() {
        let far = Self.fault(#"{"click": {"x": 65536, "y": 1}}"#)
        #expect(far.text.contains("beyond every screen"), "\(far.text)")
        let move =
            #"{"type": "pointerMove", "x": 60000, "y": 0}, {"type": "pointerMove", "x": 60000, "y": 0, "origin": "pointer"}"#
        let sum = Self.fault(Self.source("pointer", move))
        #expect(sum.text.contains("beyond every screen"), "\(sum.text)")
        let strokes = Self.fault(#"{"swipe": {"from": [1, 1], "to": [-65536, 65536]}}"#)
        #expect(strokes.text.contains("beyond every screen"), "\(strokes.text)")
    }

    @Test("takes fingers away that are still down at its end")
    func fingers() throws {
        let steps = try Self.steps(
            """
            {"actions": [{"type": "pointer", "id": "one", "parameters": {"pointerType": "touch"}, "actions": [
              {"type": "pointerMove", "x": 1, "y": 1}, {"type": "pointerDown"}, {"type": "pointerMove", "x": 2, "y": 2}]}]}
            """
        )
        #expect(steps.last == Self.touch(0, .cancel, 2.5, 2.5), "\(steps)")
        #expect(steps.count == 3)
    }

    @Test("turns a wheel by its own notches on each axis")
    func bothAxes() throws {
        let steps = try Self.steps(
            """
            {"actions": [{"type": "wheel", "id": "w", "actions": [{"type": "scroll", "x": 5, "y": 5, "deltaX": 10, \
            "deltaY": 480, "duration": 1000}]}]}
            """
        )
        #expect(steps.filter { $0 == .scroll(dx: 10, dy: 0) }.count == 1)
        #expect(steps.filter { $0 == .scroll(dx: 0, dy: 120) }.count == 4)
    }

    @Test("has at most as many steps as an order")
    func tooLong() {
        let move = #"{"type": "pointerMove", "x": 1, "y": 1, "origin": "pointer", "duration": 55000}"#
        let fault = Self.fault(Self.source("pointer", #"{"type": "pointerMove", "x": 1, "y": 1}, "# + move))
        #expect(fault.text.contains("4096 steps"), "\(fault.text)")
        let clicks = Array(repeating: #"{"type": "pointerDown"}"#, count: 4097).joined(separator: ",")
        #expect(Self.fault(Self.source("pointer", clicks)).field == "actions.0.actions")
    }
}

@Suite("Keys have names")
struct KeyNamesTests {
    @Test(
        "in any letter case, and chords are joined by plus signs",
        arguments: [
            ("Enter", [[0xFF0D]]), ("F12", [[0xFFC9]]), ("f24", [[0xFFD5]]), ("a", [[0x61]]), ("A", [[0x41]]),
            ("Ctrl+C", [[0xFFE3, 0x63]]), ("+", [[0x2B]]), ("ctrl++", [[0xFFE3, 0x2B]]), ("ä", [[0xE4]]),
            ("ctrl+plus", [[0xFFE3, 0x2B]]), ("€", [[0x0100_20AC]]), ("super", [[0xFFEB]]), ("kp7", [[0xFFB7]]),
            ("Alt+Tab Escape", [[0xFFE9, 0xFF09], [0xFF1B]]), ("", []),
        ] as [(String, [[UInt32]])]
    )
    func chords(text: String, keys: [[UInt32]]) throws {
        #expect(try KeyNames.chords(text) == keys)
    }

    @Test("which a mistyped one is near to")
    func unknown() {
        for (text, name, question) in [
            ("ctlr+a", "ctlr", " Did you mean 'ctrl'?"), ("shift+nonsense", "nonsense", ""), ("a+", "", ""),
        ] {
            do {
                _ = try KeyNames.chords(text)
                Issue.record("\(text)")
            } catch {
                #expect(error.name == name && error.question == question)
            }
        }
    }

    @Test("as WebDriver's codes")
    func webDriver() {
        func keysym(_ code: UInt32) -> UInt32? { Unicode.Scalar(code).flatMap(KeyNames.keysym(webDriver:)) }
        let codes: [UInt32: UInt32] = [
            0xE003: 0xFF08, 0xE006: 0xFF0D, 0xE007: 0xFF0D, 0xE009: 0xFFE3, 0xE01A: 0xFFB0, 0xE023: 0xFFB9,
            0xE031: 0xFFBE, 0xE03C: 0xFFC9, 0xE03D: 0xFFEB, 0xE05D: 0xFF9F, 0x61: 0x61, 0x0A: 0xFF0D,
        ]
        for (code, expected) in codes { #expect(keysym(code) == expected, "U+\(String(code, radix: 16))") }
        for code in [0xE000, 0xE030, 0xE05E, 0xF8FF, 0x01] as [UInt32] { #expect(keysym(code) == nil) }
    }
}
