import CaptureAgent
import Glibc
import Media
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("Orders for the desktop")
struct InputDeskTests {
    /// What a desktop got, and how it behaves.
    private final class FakeDesktop: InputAccess {
        struct State {
            var events: [String] = []
            var guarded: [[HeldInput.Item]] = []
            /// The events, and between them what the guard hears, warm-ups and flushes.
            var all: [String] = []
            var failure: InputFailure?
            /// Called after events.
            var reactions: [String: @Sendable () -> Void] = [:]
            /// What `prepare` waits for.
            var warmUp: Completion?
            var offers = InputCapabilities(backend: "fake", pointer: true, keyboard: true)
        }

        let state = Mutex(State())

        var events: [String] { state.withLock { $0.events } }

        /// Records an event, or fails with the failure that was set.
        func record(_ event: String) throws(InputFailure) {
            let (failure, reaction) = state.withLock { state in
                if state.failure == nil {
                    state.events.append(event)
                    state.all.append(event)
                }
                return (state.failure, state.reactions[event])
            }
            if let failure { throw failure }
            reaction?()
        }

        func capabilities() -> InputCapabilities { state.withLock { $0.offers } }

        func refusal() -> String? { nil }

        func resize(to size: PictureSize, stop: Event) throws(InputFailure) { try record("size \(size)") }

        func open() throws(InputFailure) -> any InputBackend {
            try record("open")
            return FakeBackend(self)
        }
    }

    private final class FakeGuard: InputGuarding {
        private let desktop: FakeDesktop

        init(_ desktop: FakeDesktop) { self.desktop = desktop }

        func held(_ held: [HeldInput.Item]) {
            desktop.state.withLock { state in
                state.guarded.append(held)
                state.all.append("guarded \(held.count)")
            }
        }

        func close() { desktop.state.withLock { $0.events.append("guard closed") } }
    }

    private final class FakeBackend: InputBackend {
        private let desktop: FakeDesktop

        init(_ desktop: FakeDesktop) { self.desktop = desktop }

        var capabilities: InputCapabilities { desktop.capabilities() }

        func startGuard() -> any InputGuarding { FakeGuard(desktop) }

        func prepare(_ device: InputDevice) {
            let warmUp = desktop.state.withLock { state in
                state.all.append("prepare")
                return state.warmUp
            }
            warmUp?.wait()
        }
        func movePointer(to place: InputPlace) throws(InputFailure) { try desktop.record("at \(place.x) \(place.y)") }
        func movePointer(dx: Double, dy: Double) throws(InputFailure) { try desktop.record("by \(dx) \(dy)") }
        func setButton(_ code: UInt16, isDown: Bool) throws(InputFailure) {
            try desktop.record("button \(code) \(isDown ? "down" : "up")")
        }
        func scroll(dx: Double, dy: Double) throws(InputFailure) { try desktop.record("scroll \(dx) \(dy)") }
        func touch(_ id: UInt8, _ phase: InputStep.TouchPhase, at place: InputPlace) throws(InputFailure) {
            try desktop.record("touch \(id) \(phase)")
        }
        func setKey(_ keysym: UInt32, isDown: Bool) throws(InputFailure) {
            try desktop.record("key \(keysym) \(isDown ? "down" : "up")")
        }
        func type(_ text: String, stop: Event) throws(InputFailure) -> UInt64 {
            try desktop.record("text \(text)")
            if text == "endless" { stop.wait() }
            if text == "slow" { usleep(50_000) }
            return MonotonicClock.now
        }
        func flush() throws(InputFailure) {
            let failure = desktop.state.withLock { state in
                state.all.append("flush")
                return state.failure
            }
            if let failure { throw failure }
        }
        func close() { desktop.state.withLock { $0.events.append("close") } }
    }

    private final class Answers: Sendable {
        let lastID = Mutex<UInt32>(0)
        let reports = Mutex<[InputReport]>([])
        let announced = Mutex<[InputCapabilities]>([])
        /// What session 1 shows.
        let mapping = Mutex<InputMapping?>(nil)
        /// The pointer that the source reports.
        let pointer = Mutex<SIMD2<Int>?>(nil)

        func add(_ report: InputReport) { reports.withLock { $0.append(report) } }

        func announce(_ capabilities: InputCapabilities) { announced.withLock { $0.append(capabilities) } }
    }

    private struct Bench {
        let desk: InputDesk
        let desktop: FakeDesktop
        let answers: Answers

        /// Has steps carried out, in session 1 if not said otherwise, and returns the outcome.
        func outcome(_ steps: [InputStep], geometry: UInt32 = 0, session: SessionID = 1) async throws
            -> InputReport.Outcome
        {
            try await outcome(of: take(steps, geometry: geometry, session: session))
        }

        func take(_ steps: [InputStep], geometry: UInt32 = 0, session: SessionID = 1) -> UInt32 {
            let id = answers.lastID.withLock { last in
                last += 1
                return last
            }
            let order = InputOrder(id: id, geometry: geometry, steps: steps)
            desk.take(order, of: session) { answers.add($0) }
            return order.id
        }

        /// Turns the screen by a quarter after an event of the desktop.
        func turnScreen(after event: String) {
            desktop.state.withLock { state in
                state.reactions[event] = { [answers] in
                    answers.mapping.withLock { $0 = InputDeskTests.mapping(PictureSize(width: 100, height: 200)) }
                }
            }
        }

        /// Returns how an order ended.
        func outcome(of id: UInt32) async throws -> InputReport.Outcome {
            try await eventually("the answer") {
                answers.reports.withLock { reports in reports.first { $0.id == id }?.outcome }
            }
        }
    }

    private static let size = PictureSize(width: 200, height: 100)
    /// Longer than a test may take, also on a busy machine.
    fileprivate static let longPauses = Array(repeating: InputStep.pause(milliseconds: 10_000), count: 60)

    private static func mapping(_ size: PictureSize = size, session: RequestedSize = RequestedSize()) -> InputMapping {
        InputMapping(source: size, orientation: 0, size: session)
    }

    private static func withDesk(
        longestSilence: UInt64 = .milliseconds(600_000),
        _ body: (Bench) async throws -> Void
    ) async throws {
        let (desktop, answers) = (FakeDesktop(), Answers())
        let desk = try InputDesk(desktop, longestSilence: longestSilence)
        desk.attach { answers.announce($0) }
        answers.mapping.withLock { $0 = mapping() }
        let thread = try WorkerThread(name: "input") {
            desk.run { session in
                guard session == 1 else { return .unknownSession }
                return .session(answers.mapping.withLock { $0 }, pointer: answers.pointer.withLock { $0 })
            }
        }
        defer {
            desk.close()
            thread.join()
        }
        try await body(Bench(desk: desk, desktop: desktop, answers: answers))
    }

    private static func refusal(_ outcome: InputReport.Outcome) -> (InputReport.Refusal, UInt16)? {
        if case .refused(let why, let step, let detail) = outcome, !detail.isEmpty { (why, step) } else { nil }
    }

    @Test("are carried out in sequence, by devices that are made when the first step needs them")
    func sequence() async throws {
        try await Self.withDesk { bench in
            _ = try await eventually("what it offers") { bench.answers.announced.withLock { $0.first } }
            #expect(bench.desktop.events.isEmpty)
            let before = MonotonicClock.now
            let outcome = try await bench.outcome([
                .pointer(x: 50, y: 25), .button(0x110, isDown: true), .pause(milliseconds: 30),
                .button(0x110, isDown: false), .scroll(dx: 1, dy: -2), .pointerBy(dx: 3, dy: 4),
            ])
            guard case .done(let began, let at) = outcome else { throw NeverCame(description: "\(outcome)") }
            #expect(began >= before && at >= began + .milliseconds(30) && at <= MonotonicClock.now)
            #expect(try await bench.outcome([.text("a")], session: 0) != outcome)
            #expect(
                bench.desktop.events == [
                    "open", "at 0.25 0.25", "button 272 down", "button 272 up", "scroll 1.0 -2.0", "by 3.0 4.0",
                    "text a",
                ]
            )
            #expect(bench.answers.announced.withLock { $0.count } == 1)
        }
    }

    @Test("leave out a move of the pointer to where it is, if the source says so")
    func needlessMoves() async throws {
        try await Self.withDesk { bench in
            func point(_ x: Int, _ y: Int) { bench.answers.pointer.withLock { $0 = [x, y] } }
            /// Clicks after `step`, and checks what the desktop gets before the click.
            func click(after step: InputStep, _ expected: [String]) async throws {
                let before = bench.desktop.events.count
                _ = try await bench.outcome([step, .button(0x110, isDown: true), .button(0x110, isDown: false)])
                let events = Array(bench.desktop.events.dropFirst(before))
                #expect(events == expected + ["button 272 down", "button 272 up"])
            }
            let (here, there) = (InputStep.pointer(x: 50, y: 25), InputStep.pointer(x: 60, y: 50))
            // The pointer happens to be there, but not by an order.
            point(50, 25)
            try await click(after: here, ["open", "at 0.25 0.25"])
            try await click(after: here, [])
            try await click(after: there, ["at 0.3 0.5"])
            // The source has not shown that move yet.
            try await click(after: here, ["at 0.25 0.25"])
            // Another device has moved it.
            point(120, 25)
            try await click(after: here, ["at 0.25 0.25"])
            // Desktops round.
            point(51, 24)
            try await click(after: here, [])
            try await click(after: .pointerBy(dx: 1, dy: 0), ["by 1.0 0.0"])
            try await click(after: here, ["at 0.25 0.25"])
            bench.answers.pointer.withLock { $0 = nil }
            try await click(after: here, ["at 0.25 0.25"])
        }
    }

    @Test("are refused as a whole if a step cannot be done, and the desktop gets nothing")
    func refusals() async throws {
        try await Self.withDesk { bench in
            let key = InputStep.key(keysym: 0x61, isDown: true)
            let cases: [(steps: [InputStep], geometry: UInt32, session: SessionID, InputReport.Refusal, step: UInt16)] =
                [
                    ([key, .pointer(x: 200, y: 0)], 0, 1, .outside, 1),
                    ([key, .pointer(x: 0, y: -0.1)], 0, 1, .outside, 1),
                    ([key], Self.mapping().geometry ^ 1, 1, .geometryChanged, 0), ([key], 0, 2, .unknownSession, 0),
                    ([key, .pointer(x: 1, y: 1)], 0, 0, .unknownSession, 0), ([key], 1, 0, .unknownSession, 0),
                    ([key, .touch(id: 0, phase: .down, x: 1, y: 1)], 0, 1, .unsupported, 1),
                    ([key, .text("a\u{1}")], 0, 1, .unsupported, 1),
                ]
            for (steps, geometry, session, why, step) in cases {
                let outcome = try await bench.outcome(steps, geometry: geometry, session: session)
                #expect(Self.refusal(outcome).map { $0 == (why, step) } == true, "\(outcome)")
            }
            bench.answers.mapping.withLock { $0 = nil }
            #expect(Self.refusal(try await bench.outcome([.pointer(x: 1, y: 1)]))?.0 == .noFrame)
            #expect(bench.desktop.events.isEmpty)
            bench.desktop.state.withLock { $0.offers = InputCapabilities(backend: "none", problem: "There is none.") }
            bench.desk.desktopChanged()
            _ = try await eventually("the change") { bench.answers.announced.withLock { $0.count == 2 ? $0 : nil } }
            #expect(Self.refusal(try await bench.outcome([key]))?.0 == .noBackend)
            #expect(bench.desktop.events.isEmpty)
            guard case .done = try await bench.outcome([.releaseAll]) else {
                throw NeverCame(description: "a release needs no desktop")
            }
        }
    }

    @Test("give the monitor another size without devices, and the places of the former size are refused")
    func resizing() async throws {
        try await Self.withDesk { bench in
            let resize = InputStep.resize(width: 1280, height: 720)
            guard case .done = try await bench.outcome([resize], session: 0) else {
                throw NeverCame(description: "the size")
            }
            #expect(bench.desktop.events == ["size 1280x720"])
            bench.turnScreen(after: "size 1280x720")
            let outcome = try await bench.outcome([resize, .pointer(x: 1, y: 1)])
            #expect(Self.refusal(outcome).map { $0 == (.geometryChanged, 1) } == true, "\(outcome)")
            bench.desktop.state.withLock { $0.failure = .unsupported("It has hardware.") }
            #expect(Self.refusal(try await bench.outcome([resize]))?.0 == .unsupported)
        }
    }

    @Test("hold keys and buttons from one to the next, of which the guard hears before the desktop")
    func holding() async throws {
        try await Self.withDesk { bench in
            _ = try await bench.outcome([.key(keysym: 0xFFE1, isDown: true)])
            _ = try await bench.outcome([.button(0x110, isDown: true)])
            _ = try await bench.outcome([.key(keysym: 0xFFE1, isDown: false)])
            _ = try await bench.outcome([.key(keysym: 0x61, isDown: true), .releaseAll])
            #expect(
                bench.desktop.events == [
                    "open", "key 65505 down", "button 272 down", "key 65505 up", "key 97 down", "key 97 up",
                    "button 272 up",
                ]
            )
            #expect(
                bench.desktop.state.withLock { $0.guarded } == [
                    [.key(0xFFE1)], [.key(0xFFE1), .button(0x110)], [.button(0x110)], [.button(0x110), .key(0x61)], [],
                ]
            )
        }
    }

    @Test("leave nothing held after a time without another, and pauses do not count")
    func silence() async throws {
        #expect(InputDesk.longestSilence == .milliseconds(2_000))
        try await Self.withDesk(longestSilence: .milliseconds(800)) { bench in
            let order = InputOrder(id: 1, steps: [.button(0x110, isDown: true), .pause(milliseconds: 1_200)])
            bench.desk.take(order, of: 1) { _ in bench.desktop.state.withLock { $0.events.append("answer") } }
            _ = try await eventually("the release") { bench.desktop.events.count == 4 ? true : nil }
            #expect(bench.desktop.events == ["open", "button 272 down", "answer", "button 272 up"])
        }
    }

    @Test("say when the first and the last event were handed over, without the devices' warm-up before it")
    func times() async throws {
        try await Self.withDesk { bench in
            let warmUp = Completion()
            bench.desktop.state.withLock { $0.warmUp = warmUp }
            let order = bench.take([.button(0x110, isDown: true), .text("slow"), .pause(milliseconds: 50)])
            _ = try await eventually("the warm-up") {
                bench.desktop.state.withLock { $0.all.contains("prepare") ? 0 : nil }
            }
            let warm = MonotonicClock.now
            warmUp.set()
            guard case .done(let began, let at) = try await bench.outcome(of: order) else {
                throw NeverCame(description: "the order")
            }
            #expect(began >= warm)
            #expect(at >= began + .milliseconds(50), "a text's time is that of its last character")
            #expect(at + .milliseconds(50) <= MonotonicClock.now, "a pause does not count")
        }
    }

    @Test("a release during a device's warm-up ends the order before its event, and the device gets ready")
    func releaseDuringWarmUp() async throws {
        try await Self.withDesk { bench in
            let warmUp = Completion()
            bench.desktop.state.withLock { $0.warmUp = warmUp }
            let order = bench.take([.button(0x110, isDown: true)])
            _ = try await eventually("the warm-up") {
                bench.desktop.state.withLock { $0.all.contains("prepare") ? 0 : nil }
            }
            let release = bench.take([.releaseAll])
            warmUp.set()
            guard case .done = try await bench.outcome(of: release) else { throw NeverCame(description: "the release") }
            #expect(Self.refusal(try await bench.outcome(of: order)).map { $0 == (.failed, 0) } == true)
            #expect(bench.desktop.events == ["open"])
        }
    }

    @Test("the guard hears of a press before the desktop, and of a release after the desktop has it")
    func order() async throws {
        try await Self.withDesk { bench in
            _ = try await bench.outcome([.key(keysym: 0x61, isDown: true), .key(keysym: 0x61, isDown: false)])
            _ = try await bench.outcome([.button(0x110, isDown: true), .releaseAll])
            let all = bench.desktop.state.withLock { $0.all }.filter { $0 != "prepare" }
            let events = all.filter { $0 != "flush" }
            #expect(
                events == [
                    "open", "guarded 1", "key 97 down", "key 97 up", "guarded 0", "guarded 1", "button 272 down",
                    "button 272 up", "guarded 0",
                ]
            )
            for release in ["key 97 up", "button 272 up"] {
                let index = try #require(all.firstIndex(of: release))
                #expect(Array(all[index...].prefix(3)) == [release, "flush", "guarded 0"], "\(all)")
            }
        }
    }

    @Test("that are refused in the middle leave the desktop with what is done")
    func refusedLater() async throws {
        try await Self.withDesk { bench in
            bench.turnScreen(after: "button 272 down")
            let order = bench.take([.button(0x110, isDown: true), .pointer(x: 2, y: 2)])
            let outcome = try await bench.outcome(of: order)
            #expect(Self.refusal(outcome)?.0 == .geometryChanged)
            #expect(bench.desktop.state.withLock { $0.all.last } == "flush")
        }
    }

    @Test(
        "a release goes ahead of all others, and ends the one that is carried out",
        arguments: [[InputStep.text("endless")], Self.longPauses]
    )
    func release(steps: [InputStep]) async throws {
        try await Self.withDesk { bench in
            let long = bench.take([.button(0x110, isDown: true)] + steps + [.button(0x111, isDown: true)])
            let waiting = bench.take([.button(0x112, isDown: true)])
            _ = try await eventually("the button") { bench.desktop.events.contains("button 272 down") ? true : nil }
            guard case .done = try await bench.outcome([.releaseAll]) else {
                throw NeverCame(description: "the release")
            }
            // On a busy machine, some of the pauses are over.
            #expect(Self.refusal(try await bench.outcome(of: long)).map { $0.0 == .failed && $0.1 >= 1 } == true)
            #expect(Self.refusal(try await bench.outcome(of: waiting))?.0 == .failed)
            #expect(bench.desktop.events.filter { $0.hasPrefix("button") } == ["button 272 down", "button 272 up"])
            guard case .done = try await bench.outcome([.button(0x112, isDown: true)]) else {
                throw NeverCame(description: "the next order")
            }
        }
    }

    @Test("wait, 64 at most")
    func crowd() async throws {
        try await Self.withDesk { bench in
            let first = bench.take([.button(0x110, isDown: true)] + Self.longPauses)
            _ = try await eventually("the button") { bench.desktop.events.contains("button 272 down") ? true : nil }
            let others = (0..<65).map { _ in bench.take([.pause(milliseconds: 0)]) }
            #expect(Self.refusal(try await bench.outcome(of: others[64]))?.0 == .busy)
            #expect(bench.answers.reports.withLock { $0.count } == 1)
            guard case .done = try await bench.outcome([.releaseAll]) else { throw NeverCame(description: "release") }
            #expect(Self.refusal(try await bench.outcome(of: first))?.0 == .failed)
            #expect(Self.refusal(try await bench.outcome(of: others[63]))?.0 == .failed)
        }
    }

    @Test("end at a step that the desktop does not take, and the next one makes new devices")
    func lost() async throws {
        try await Self.withDesk { bench in
            _ = try await bench.outcome([.button(0x110, isDown: true)])
            bench.desktop.state.withLock { $0.failure = .lost("It is gone.") }
            let outcome = try await bench.outcome([.key(keysym: 0x61, isDown: true)])
            #expect(outcome == .refused(.failed, step: 0, detail: "It is gone."))
            bench.desktop.state.withLock { $0.failure = nil }
            _ = try await bench.outcome([.key(keysym: 0x62, isDown: true)])
            #expect(
                bench.desktop.events == [
                    "open", "button 272 down", "close", "guard closed", "open", "key 98 down",
                ]
            )
        }
    }

    @Test("a place means what it did when the order began, or the order ends")
    func changedDuringTheOrder() async throws {
        try await Self.withDesk { bench in
            bench.turnScreen(after: "button 272 down")
            let order = bench.take([.pointer(x: 1, y: 1), .button(0x110, isDown: true), .pointer(x: 2, y: 2)])
            let outcome = try await bench.outcome(of: order)
            #expect(Self.refusal(outcome).map { $0 == (.geometryChanged, 2) } == true)
        }
    }

    @Test("the end of a link ends its orders unanswered and releases everything; the devices stay for the next link")
    func link() async throws {
        try await Self.withDesk { bench in
            _ = try await bench.outcome([.button(0x110, isDown: true)])
            let long = bench.take([.key(keysym: 0x61, isDown: true)] + Self.longPauses)
            let waiting = bench.take([.key(keysym: 0x62, isDown: true)])
            _ = try await eventually("the key") { bench.desktop.events.contains("key 97 down") ? true : nil }
            bench.desk.detach()
            _ = try await eventually("the release") { bench.desktop.events.last == "button 272 up" ? true : nil }
            let later = Answers()
            bench.desk.attach { later.announce($0) }
            let next = try await bench.outcome([.key(keysym: 0x63, isDown: true)])
            guard case .done = next else { throw NeverCame(description: "\(next)") }
            _ = try await eventually("what it offers, again") { later.announced.withLock { $0.first } }
            #expect(bench.answers.reports.withLock { $0.allSatisfy { $0.id != long && $0.id != waiting } })
            #expect(
                bench.desktop.events == [
                    "open", "button 272 down", "key 97 down", "key 97 up", "button 272 up", "key 99 down",
                ]
            )
        }
    }

    @Test("devices of a desktop that is gone end when the source is opened again")
    func reopened() async throws {
        try await Self.withDesk { bench in
            _ = try await bench.outcome([.key(keysym: 0x61, isDown: true), .key(keysym: 0x61, isDown: false)])
            bench.desktop.state.withLock { $0.failure = .lost("It is gone.") }
            bench.desk.desktopChanged()
            _ = try await eventually("the end of the devices") { bench.desktop.events.last == "guard closed" ? 0 : nil }
            bench.desktop.state.withLock { $0.failure = nil }
            let next = try await bench.outcome([.key(keysym: 0x62, isDown: true)])
            guard case .done = next else { throw NeverCame(description: "\(next)") }
            #expect(bench.desktop.events.suffix(4) == ["close", "guard closed", "open", "key 98 down"])
        }
    }

    @Test("leave nothing held when the agent ends")
    func end() async throws {
        let desktop = FakeDesktop()
        let answered = Completion()
        let desk = try InputDesk(desktop)
        let thread = try WorkerThread(name: "input") { desk.run { _ in .session(Self.mapping(), pointer: nil) } }
        let refused = InputOrder(id: 1, steps: [.button(0x110, isDown: true), .touch(id: 0, phase: .up, x: 0, y: 0)])
        desk.take(refused, of: 1) { _ in answered.set() }
        answered.wait()
        let long = InputOrder(id: 2, steps: [.key(keysym: 0x61, isDown: true)] + InputDeskTests.longPauses)
        desk.take(long, of: 1) { _ in }
        _ = try await eventually("the key") { desktop.events.contains("key 97 down") ? true : nil }
        desk.close()
        thread.join()
        #expect(desktop.events == ["open", "key 97 down", "key 97 up", "close", "guard closed"])
    }
}

@Suite("Held input")
struct HeldInputTests {
    @Test("is released in reverse order, each item once, and a finger without a tap")
    func releases() {
        var held = HeldInput()
        let steps: [InputStep] = [
            .button(0x110, isDown: true), .key(keysym: 1, isDown: true), .button(0x110, isDown: true),
            .touch(id: 2, phase: .down, x: 1, y: 1), .touch(id: 2, phase: .move, x: 2, y: 2),
            .touch(id: 3, phase: .down, x: 1, y: 1), .touch(id: 3, phase: .up, x: 1, y: 1), .text("a"),
            .key(keysym: 5, isDown: true), .key(keysym: 1, isDown: false), .key(keysym: 7, isDown: false),
        ]
        for step in steps { held.follow(step) }
        #expect(
            held.releases == [
                .key(keysym: 5, isDown: false), .touch(id: 2, phase: .cancel, x: 0, y: 0),
                .button(0x110, isDown: false),
            ]
        )
        for step in held.releases { held.follow(step) }
        #expect(held.isEmpty)
        held.follow(.key(keysym: 1, isDown: true))
        held.follow(.releaseAll)
        #expect(held == HeldInput())
    }
}

@Suite("Places on the captured screen")
struct InputMappingTests {
    private static let source = PictureSize(width: 1280, height: 720)

    @Test("are fractions of the source, whatever the session's size")
    func places() throws {
        let cases: [(RequestedSize, x: Double, y: Double)] = [
            (RequestedSize(), 320, 180), (RequestedSize(width: 640), 160, 90),
            (RequestedSize(width: 640, height: 640), 160, 230), (RequestedSize(width: 666, height: 200), 243, 50),
        ]
        for (size, x, y) in cases {
            let place = InputMapping(source: Self.source, orientation: 0, size: size).place(x: x, y: y)
            #expect(place == InputPlace(x: 0.25, y: 0.25, width: 1280, height: 720), "\(size)")
        }
    }

    @Test("are none on borders, and none outside")
    func borders() {
        let mapping = InputMapping(source: Self.source, orientation: 0, size: RequestedSize(width: 640, height: 640))
        for (x, y) in [(0, 139.9), (0, 500), (-0.1, 300), (640, 300)] { #expect(mapping.place(x: x, y: y) == nil) }
        for (x, y) in [(0, 140), (639.9, 499.9)] { #expect(mapping.place(x: x, y: y) != nil) }
        let distance = mapping.distance(dx: 10, dy: -5)
        #expect(distance.dx == 20 && distance.dy == -10)
    }

    @Test("of an odd source are those of its own pixels")
    func odd() throws {
        let odd = InputMapping(source: PictureSize(width: 101, height: 51), orientation: 0, size: RequestedSize())
        #expect(odd.place(x: 50.5, y: 0)?.x == 0.5)
        #expect(odd.place(x: 100, y: 0) == nil)
    }

    @Test("have another geometry after each change")
    func geometry() {
        var seen: Set<UInt32> = [0]
        for source in [Self.source, PictureSize(width: 720, height: 1280)] {
            for orientation: UInt8 in 0..<4 {
                for size in [RequestedSize(), RequestedSize(width: 640), RequestedSize(width: 640, height: 640)] {
                    let mapping = InputMapping(source: source, orientation: orientation, size: size)
                    #expect(seen.insert(mapping.geometry).inserted)
                    #expect(InputMapping(source: source, orientation: orientation, size: size) == mapping)
                }
            }
        }
    }
}

@Suite("Keysyms")
struct KeysymTests {
    @Test("of characters are Latin-1 itself and Unicode, and line breaks are Return once")
    func characters() throws {
        #expect(
            try Keysym.typing("a\u{e9}\u{20ac}\u{1F600}\t\r\n\n\r")
                == [0x61, 0xE9, 0x0100_20AC, 0x0101_F600, 0xFF09, 0xFF0D, 0xFF0D, 0xFF0D]
        )
        for text in ["\u{0}", "\u{1B}", "\u{7F}", "\u{85}", "a\u{8}"] {
            #expect(throws: InputFailure.self) { try Keysym.typing(text) }
        }
    }

    @Test("have one spelling, or none that a keymap takes")
    func canonical() {
        #expect(Keysym.canonical(0x0100_0041) == 0x41)
        #expect(Keysym.canonical(0x0100_20AC) == 0x0100_20AC)
        #expect(Keysym.canonical(0xFFE1) == 0xFFE1)
        for keysym: UInt32 in [0, 0x0100_0000, 0x0100_0009, 0x0100_D800, 0x2000_0000, .max] {
            #expect(Keysym.canonical(keysym) == nil)
        }
    }
}

@Suite("The keymap of a virtual keyboard")
struct VirtualKeymapTests {
    private typealias Stroke = VirtualKeymap.Stroke

    @Test("has the characters of an American keyboard from the start")
    func fixed() {
        let keymap = VirtualKeymap()
        for character in (0x20...0x7E).compactMap(Unicode.Scalar.init) {
            #expect(keymap.stroke(character.value, isShifted: false, isExact: true) != nil, "\(character)")
        }
        #expect(keymap.stroke(0x61, isShifted: false, isExact: false) == Stroke(code: 30, needsShift: false))
        #expect(keymap.stroke(0x41, isShifted: false, isExact: true) == Stroke(code: 30, needsShift: true))
        #expect(keymap.stroke(0x61, isShifted: true, isExact: false) == Stroke(code: 30, needsShift: false))
        #expect(keymap.stroke(0x61, isShifted: true, isExact: true) == nil, "Shift makes it an A")
        #expect(keymap.stroke(0x41, isShifted: false, isExact: false) == nil, "a key does not press Shift by itself")
        #expect(keymap.stroke(0xFF0D, isShifted: true, isExact: true)?.code == 28)
    }

    @Test("binds spare keys, keeps those that are held, and replaces others only when it must")
    func spares() {
        var keymap = VirtualKeymap()
        let room = VirtualKeymap.spareCodes.count
        #expect(room > 100)
        func code(_ keysym: UInt32) -> UInt32? { keymap.stroke(keysym, isShifted: false, isExact: true)?.code }
        let first = (0..<UInt32(room)).map { 0x0100_4E00 + $0 }
        keymap.bind(first + [0x0100_6000], keeping: [])
        #expect(first.allSatisfy { code($0) != nil })
        #expect(Set(first.compactMap(code)).count == room)
        #expect(code(0x0100_6000) == nil)
        let held = code(first[3])
        keymap.bind([0x0100_6000, first[4]], keeping: Set([held].compactMap { $0 }))
        #expect(code(first[3]) == held)
        #expect(code(first[4]) != nil)
        #expect(code(0x0100_6000) != nil)
        #expect(first.count(where: { code($0) == nil }) == 1)
        keymap.bind([0x0100_7000], keeping: Set(VirtualKeymap.spareCodes))
        #expect(code(0x0100_7000) == nil, "all are held")
        #expect(keymap.text.contains("{[0x1006000]}"))
    }

    @Test("distances follow a turned monitor")
    func turns() {
        let cases: [(UInt8, Bool, Double, Double)] = [
            (0, false, 3, 4), (1, false, -4, 3), (2, false, -3, -4), (3, false, 4, -3), (0, true, -3, 4),
            (1, true, 4, 3),
        ]
        for (turns, isMirrored, x, y) in cases {
            let distance = OutputTurn(turns: turns, isMirrored: isMirrored).distance(dx: 3, dy: 4)
            #expect(distance.dx == x && distance.dy == y, "\(turns) \(isMirrored): \(distance)")
        }
    }
}
