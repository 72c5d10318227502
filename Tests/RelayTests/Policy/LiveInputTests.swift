import NIOCore
import Relay
import Testing
import Wire

@Suite("A viewer's input becomes orders")
struct LiveInputTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    /// A viewer's input at times in ms, and an agent that answers when the test says so.
    private final class Hand {
        private var live = LiveInput(now: start)
        private(set) var sent: [LiveOrder] = []
        private(set) var refused: [LiveInput.Refusal] = []
        private var underWay: [LiveOrder] = []
        var time: Int64 = 0

        private var now: NIODeadline { start + .milliseconds(time) }

        private func note(_ actions: [LiveInput.Action]) {
            for action in actions {
                switch action {
                case .send(let order):
                    sent.append(order)
                    underWay.append(order)
                case .refuse(let refusal, _): refused.append(refusal)
                }
            }
        }

        func take(_ inputs: ViewerInput...) {
            for input in inputs { note(live.take(input, now: now)) }
        }

        func tick() { note(live.tick(now: now)) }
        func drop() -> LiveOrder? { live.drop() }

        /// Answers the oldest order under way.
        func answer(isDone: Bool = true) {
            guard !underWay.isEmpty else {
                Issue.record("no order is under way")
                return
            }
            note(live.ended(underWay.removeFirst(), isDone: isDone))
        }

        /// Answers all orders, and those that come of the answers.
        func answerAll() {
            while !underWay.isEmpty { answer() }
        }

        /// What was sent since the last call.
        func steps() -> [[InputStep]] {
            defer { sent = [] }
            return sent.map(\.steps)
        }
    }

    private static func move(_ x: Double, _ y: Double = 0, geometry: UInt32 = 7) -> ViewerInput {
        .move(.init(geometry: geometry, x: x, y: y))
    }

    private static func press(_ code: UInt16 = 0x110, at x: Double? = nil) -> ViewerInput {
        .button(code, isDown: true, at: x.map { .init(geometry: 7, x: $0, y: 0) })
    }

    private static func release(_ code: UInt16 = 0x110, at x: Double? = nil) -> ViewerInput {
        .button(code, isDown: false, at: x.map { .init(geometry: 7, x: $0, y: 0) })
    }

    @Test("movement waits for the movement before it, and the newest wins")
    func movement() {
        let hand = Hand()
        hand.take(Self.move(1), Self.move(2), Self.move(3))
        #expect(hand.steps() == [[.pointer(x: 1, y: 0)]])
        hand.answer()
        #expect(hand.steps() == [[.pointer(x: 3, y: 0)]])
        hand.answer()
        #expect(hand.steps() == [])
        hand.take(.motion(dx: 1, dy: 0.25), .motion(dx: 2, dy: 0.5), .motion(dx: -0.5, dy: 1))
        hand.answer()
        #expect(hand.steps() == [[.pointerBy(dx: 1, dy: 0.25)], [.pointerBy(dx: 1.5, dy: 1.5)]])
        hand.answer()
        let place = ViewerInput.Place(geometry: 7, x: 5, y: 6)
        hand.take(Self.move(1), .scroll(dx: 0, dy: 120, at: place), .scroll(dx: 10, dy: -20, at: place))
        hand.answer()
        #expect(hand.steps() == [[.pointer(x: 1, y: 0)], [.pointer(x: 5, y: 6), .scroll(dx: 10, dy: 100)]])
    }

    @Test("movement in pictures of different geometries is not mixed")
    func geometries() {
        let hand = Hand()
        hand.take(Self.move(1), Self.move(2), Self.move(3, geometry: 8))
        hand.answer()
        hand.answer()
        #expect(hand.sent.map(\.geometry) == [7, 7, 8])
    }

    @Test("buttons go out at once, after the movement before them, and none is lost")
    func buttons() {
        let hand = Hand()
        hand.take(Self.move(1), Self.move(2), Self.press(at: 3), Self.move(4), Self.move(5), Self.release(at: 6))
        #expect(
            hand.steps() == [
                [.pointer(x: 1, y: 0)], [.pointer(x: 2, y: 0)],
                [.pointer(x: 3, y: 0), .button(0x110, isDown: true)], [.pointer(x: 5, y: 0)],
            ]
        )
        hand.answer()
        hand.answer()
        #expect(hand.steps() == [], "nothing goes up before it is down")
        hand.answer()
        #expect(hand.steps() == [[.pointer(x: 6, y: 0)], [.button(0x110, isDown: false)]])
    }

    @Test("nothing is pressed beyond the screen, but what is held may be dragged there")
    func edges() {
        let hand = Hand()
        hand.take(Self.move(1), Self.press(at: 3))
        hand.answerAll()
        hand.take(Self.move(4), Self.press(0x111, at: 5), Self.release(at: 6))
        hand.answerAll()
        #expect(hand.sent.map(\.takesNearest) == [false, false, true, false, true, false])
        #expect(hand.sent.map(\.geometry) == [7, 7, 7, 7, 7, 0])
    }

    @Test("repeats of what is held are left out, and so are releases of what is not")
    func repeats() {
        let hand = Hand()
        let down = ViewerInput.key(keysym: 0x61, isDown: true)
        hand.take(down, down, Self.release(), .key(keysym: 0x62, isDown: false))
        hand.answerAll()
        #expect(hand.steps() == [[.key(keysym: 0x61, isDown: true)]])
        hand.take(.key(keysym: 0x61, isDown: false), .key(keysym: 0x61, isDown: false))
        #expect(hand.steps() == [[.key(keysym: 0x61, isDown: false)]])
    }

    @Test("contacts move together; one that is refused takes no other with it")
    func contacts() {
        let hand = Hand()
        func contact(_ id: UInt8, _ phase: InputStep.TouchPhase, _ x: Double) -> ViewerInput.Contact {
            .init(id: id, phase: phase, x: x, y: 0)
        }
        hand.take(.touch([contact(0, .down, 1), contact(1, .down, 2)], geometry: 7))
        #expect(
            hand.steps() == [
                [.touch(id: 0, phase: .down, x: 1, y: 0)], [.touch(id: 1, phase: .down, x: 2, y: 0)],
            ]
        )
        hand.answer()
        hand.answer(isDone: false)
        hand.take(.touch([contact(0, .move, 3), contact(1, .move, 4)], geometry: 7))
        hand.take(.touch([contact(0, .move, 5)], geometry: 7), .touch([contact(0, .up, 6)], geometry: 7))
        #expect(
            hand.steps() == [
                [.touch(id: 0, phase: .move, x: 3, y: 0)], [.touch(id: 0, phase: .move, x: 5, y: 0)],
                [.touch(id: 0, phase: .up, x: 6, y: 0)],
            ]
        )
    }

    @Test("what is held is released 2 s after the last message, and stays while beats come")
    func silence() {
        let hand = Hand()
        hand.take(.key(keysym: 0xFFE1, isDown: true), Self.press())
        hand.answer()
        hand.answer()
        _ = hand.steps()
        for _ in 0..<20 {
            hand.time += 500
            hand.take(.beat)
            hand.tick()
            // The agent hears that the viewer is there.
            #expect(hand.steps() == [[]])
            hand.answer()
        }
        hand.time += 1999
        hand.tick()
        #expect(hand.steps() == [])
        hand.time += 1
        hand.tick()
        #expect(hand.steps() == [[.button(0x110, isDown: false), .key(keysym: 0xFFE1, isDown: false)]])
        hand.take(Self.release(), .beat)
        #expect(hand.steps() == [])
    }

    @Test("what is held is known when control ends")
    func dropped() {
        let hand = Hand()
        #expect(hand.drop() == nil)
        hand.take(.key(keysym: 0x61, isDown: true), Self.press(), .key(keysym: 0x61, isDown: false))
        // The key is down by now, so it must go up although nobody holds it.
        #expect(hand.drop()?.steps == [.key(keysym: 0x61, isDown: false), .button(0x110, isDown: false)])
        #expect(hand.drop() == nil)
    }

    @Test("presses are bounded in rate and number; releases are not")
    func presses() {
        let hand = Hand()
        for _ in 0..<300 {
            hand.take(.key(keysym: 0x61, isDown: true), .key(keysym: 0x61, isDown: false))
            hand.answerAll()
        }
        #expect(hand.sent.count == 400 && hand.refused == [LiveInput.Refusal](repeating: .rate, count: 100))
        #expect(hand.drop() == nil)
        hand.time = 1000
        for _ in 0..<100 { hand.take(Self.press(), Self.release()) }
        #expect(hand.refused.count == 100, "100 more by now")
    }

    @Test("at most 32 things are held")
    func held() {
        let hand = Hand()
        for keysym in UInt32(0x61)..<0x61 + 40 {
            hand.take(.key(keysym: keysym, isDown: true))
            if keysym < 0x61 + 32 { hand.answer() }
        }
        #expect(hand.sent.count == 32 && hand.refused == [LiveInput.Refusal](repeating: .rate, count: 8))
        #expect(hand.drop()?.steps.count == 32)
    }

    @Test("text is bounded in rate")
    func text() {
        let hand = Hand()
        let text = String(repeating: "a", count: 4000)
        for _ in 0..<9 {
            hand.take(.text(text))
            if hand.refused.isEmpty { hand.answer() }
        }
        #expect(hand.sent.count == 8 && hand.refused == [.rate])
        hand.time = 5000
        hand.take(.text(text))
        #expect(hand.sent.count == 9, "5000 bytes more by now")
    }

    @Test("an agent that does not keep up is sent no more than it may get, then everything is released")
    func behind() {
        let hand = Hand()
        var number = 0
        while hand.refused.isEmpty, number < 1000 {
            number += 1
            hand.take(.text("a"))
        }
        #expect(hand.refused == [.busy])
        #expect(hand.sent.count == 9 && hand.sent.last == .releaseAll, "8 under way, and the release")
        #expect(hand.drop() == nil)
        hand.answerAll()
        #expect(hand.sent.count == 9, "what waited is forgotten")
    }

    @Test("a release that the agent refuses releases everything")
    func refusedRelease() {
        let hand = Hand()
        hand.take(.key(keysym: 0x61, isDown: true), .key(keysym: 0x62, isDown: true))
        hand.answer()
        hand.answer()
        hand.take(.key(keysym: 0x61, isDown: false))
        _ = hand.steps()
        hand.answer(isDone: false)
        #expect(hand.steps() == [[.releaseAll]])
        #expect(hand.drop() == nil)
        hand.answer(isDone: false)
        #expect(hand.steps() == [], "it is not tried for ever")
    }

    @Test("a press that the agent refuses is not held, and what should end it is left out")
    func refusedPress() {
        let hand = Hand()
        hand.take(Self.press(at: 1))
        hand.answer(isDone: false)
        #expect(hand.drop() == nil)
        _ = hand.steps()
        hand.take(Self.press(at: 1), Self.release(at: 2), Self.press(at: 3))
        hand.answer(isDone: false)
        #expect(
            hand.steps() == [
                [.pointer(x: 1, y: 0), .button(0x110, isDown: true)],
                [.pointer(x: 3, y: 0), .button(0x110, isDown: true)],
            ]
        )
        #expect(hand.drop()?.steps == [.button(0x110, isDown: false)])
    }
}
