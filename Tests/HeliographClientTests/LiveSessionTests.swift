import HeliographAPI
import HeliographClient
import Media
import NIOCore
import Relay
import RelayTestSupport
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("A session that a program watches")
struct LiveSessionTests {
    /// Runs a relay with the session `door` and an agent that feeds it.
    private static func run(
        port: Int = 0,
        _ body: @escaping @Sendable (RunningRelay, RelayClient, LinkClient, SessionID) async throws -> Void
    ) async throws {
        try await RunningRelay.run {
            $0.http.port = port
            $0.devices[0].sound = .desktop
        } _: { relay in
            let client = try RelayClient(relay.url(""))
            try await client.device().session("door").start()
            let link = try await LinkClient(greeting: relay)
            let id = try await relay.get("/v1/devices/default/sessions/door").json["id"]
            guard case .integer(let number)? = id else { throw NeverCame(description: "no session") }
            try await body(relay, client, link, SessionID(number))
        }
    }

    /// Sends keyframes with these numbers, one in 20 ms, until the task is cancelled.
    private static func feed(_ link: LinkClient, _ session: SessionID, from first: Int = 0) -> Task<Void, any Error> {
        Task {
            for number in first..<(first + 10_000) {
                try await link.send([SampleStream.accessUnit(number, key: true)], session: session)
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// Returns the next order with steps. Signs that the controller is there have none.
    private static func order(_ link: LinkClient) async throws -> (SessionID, InputOrder) {
        try await link.first { packet in
            if case .input(let id, let order) = packet, !order.steps.isEmpty { (id, order) } else { nil }
        }
    }

    @Test("sends each picture as the agent encoded it, with its format and its times")
    func pictures() async throws {
        try await Self.run { relay, client, link, session in
            let live = try await client.session(session).watch()
            try await relay.waitForViewers(1, of: session)
            let sent = (0..<40).map { SampleStream.accessUnit($0, key: $0 % 10 == 0) }
            try await link.send(sent, session: session)
            var received: [LiveSession.Units.Element] = []
            for try await unit in live.video {
                received.append(unit)
                if received.count == sent.count { live.close() }
            }
            #expect(received.map(\.bytes) == sent.map(\.bytes))
            #expect(received.map(\.isKeyframe) == sent.map { $0.flags.contains(.key) })
            #expect(zip(received, received.dropFirst()).allSatisfy { $0.pts < $1.pts })
            #expect(received.allSatisfy { $0.dropped == 0 && $0.captured == 1 && $0.encoded == 3 && $0.relayed > 3 })
            guard case .picture(let format)? = received.first?.content else { throw NeverCame(description: "a format") }
            #expect(format.codec.hasPrefix("avc3.") && format.width == 640 && format.height == 360)
            let facts = try #require(live.facts)
            #expect(facts.session == session && facts.device == "default" && facts.codec == "h264" && facts.fps == 30)
        }
    }

    @Test("acknowledges what arrives while the bitrate follows viewers, and says what the encoder may take")
    func adapts() async throws {
        try await Self.run { relay, client, link, session in
            _ = try await relay.patch("/screencapture/\(session)", ["adapt": "followSlowest"])
            let live = try await client.session(session).watch()
            try await relay.waitForViewers(1, of: session)
            let feeding = Self.feed(link, session)
            defer { feeding.cancel() }
            _ = try await eventually("a viewer to follow") {
                try await relay.get("/screencapture/\(session)").json["target"]?["followed"] == 1 ? true : nil
            }
            let target = try #require(live.statistics.target)
            #expect(target.adapts && target.bitrate == 6_000_000 && target.fps == 30)
            live.close()
        }
    }

    @Test("sends the device's sound once it is asked for")
    func sound() async throws {
        let source = try OpusSource(seconds: 1, track: 1, scratch: Scratch())
        try await Self.run { relay, client, link, session in
            try await link.send(.tracks(DeviceTracks([source.track])))
            let live = try await client.session(session).watch()
            let audio = live.audio
            try await relay.waitForViewers(1, of: session)
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session)
            _ = try await link.first { packet in
                if case .listen(let order) = packet, order.wanted.contains(.opus) { true } else { nil }
            }
            let begin = Int64(NIODeadline.now().uptimeNanoseconds / 1000)
            try await link.send(source.units(from: begin), session: 0)
            var packets: [[UInt8]] = []
            for try await unit in audio {
                guard case .sound(1) = unit.content else { throw NeverCame(description: "\(unit.content)") }
                packets.append(unit.bytes)
                if packets.count == source.packets.count { break }
            }
            #expect(packets == source.packets)
        }
    }

    @Test("goes on after the relay was started again, and says so")
    func restart() async throws {
        let kept = Mutex<(live: LiveSession, port: Int)?>(nil)
        try await Self.run { relay, client, link, session in
            let live = try await client.device().session("door").watch()
            let pictures = Self.feed(link, session)
            defer { pictures.cancel() }
            for try await _ in live.video { break }
            kept.withLock { $0 = (live, relay.ports.http) }
        }
        let (live, port) = try #require(kept.withLock { $0 })
        defer { live.close() }
        let events = Task {
            var found: [String] = []
            for try await event in live.events {
                switch event {
                case .connected: found.append("connected")
                case .interrupted(let error): found.append(error.isLossOfRelay ? "interrupted" : "\(error)")
                case .resumed(let missed):
                    found.append(missed > .zero ? "resumed" : "missed nothing")
                    return found
                default: break
                }
            }
            return found
        }
        try await Self.run(port: port) { relay, client, link, session in
            let pictures = Self.feed(link, session, from: 5000)
            defer { pictures.cancel() }
            let later = Set((5000..<10_000).map { SampleStream.accessUnit($0, key: true).bytes })
            for try await unit in live.video where later.contains(unit.bytes) { break }
            #expect(try await events.value == ["connected", "interrupted", "connected", "resumed"])
        }
    }

    @Test("takes control, acts, and gives control back")
    func control() async throws {
        try await Self.run { relay, client, link, session in
            let able = InputCapabilities(backend: "wlroots", pointer: true, keyboard: true, touch: true)
            try await link.send(.inputs(able))
            try await relay.waitForCapabilities()
            let live = try await client.session(session).watch()
            try await live.takeControl()
            #expect(live.control?.isMine == true)
            #expect(try await relay.broadcast()["controller"] == "local")
            try await live.send(.button(.left, isDown: true, at: Input.Place(x: 1.5, y: 2, geometry: 9)))
            let (id, order) = try await Self.order(link)
            #expect(id == session && order.geometry == 9)
            #expect(order.steps == [.pointer(x: 1.5, y: 2), .button(0x110, isDown: true)])
            try await link.send(.inputDone(id, InputReport(id: order.id, outcome: .done(began: 1, at: 1))))
            // It says each half second that it is there, so that nothing is released.
            try await Task.sleep(for: .seconds(2.5))
            try await live.leaveControl()
            let (_, last) = try await Self.order(link)
            #expect(last.steps == [.button(0x110, isDown: false)])
            try await link.send(.inputDone(id, InputReport(id: last.id, outcome: .done(began: 1, at: 1))))
            _ = try await eventually("the end of control") {
                try await relay.broadcast()["controller"] == .null ? true : nil
            }
        }
    }

    @Test("does not get control that another controller has, unless it takes it")
    func controlled() async throws {
        try await Self.run { relay, client, link, session in
            try await link.send(.inputs(InputCapabilities(backend: "x11", pointer: true, keyboard: true, touch: false)))
            try await relay.waitForCapabilities()
            let (first, second) = (try await client.session(session).watch(), try await client.session(session).watch())
            try await first.takeControl()
            try await second.takeControl(fromOthers: true)
            for try await event in first.events {
                if case .control(let control) = event, control.wasTaken { break }
            }
            #expect(first.control?.isMine == false && second.control?.isMine == true)
        }
    }

    @Test("does not wait for control if nothing can be controlled")
    func noInput() async throws {
        try await Self.run { relay, client, link, session in
            let live = try await client.session(session).watch()
            let error = await #expect(throws: RelayError.self) { try await live.takeControl() }
            #expect(error?.kind == .refused && error?.code == "no_input", "\(error.map { "\($0)" } ?? "")")
        }
    }

    @Test("tells the relay when pictures were presented, and knows how it arrives")
    func statistics() async throws {
        try await Self.run { relay, client, link, session in
            let live = try await client.session(session).watch()
            try await relay.waitForViewers(1, of: session)
            _ = try await eventually("the relay's clock") { live.statistics.clockOffset }
            let feed = Task {
                for number in 0..<10_000 {
                    var unit = SampleStream.accessUnit(number, key: true)
                    unit.header.captured = NIODeadline.now().uptimeNanoseconds
                    unit.header.encodeEnd = unit.header.captured
                    try await link.send([unit], session: session)
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            defer { feed.cancel() }
            for try await unit in live.video {
                live.decoded(unit)
                live.presented(unit)
                if live.statistics.captureToPresent?.count == 30 { break }
            }
            let statistics = live.statistics
            let (received, presented) = (
                try #require(statistics.captureToReceive), try #require(statistics.captureToPresent)
            )
            #expect(received.p50 <= presented.p50 && presented.p99 < .seconds(20), "\(statistics)")
            #expect(statistics.impossible == 0 && statistics.feed == .primary && statistics.pictures >= 30)
            _ = try await eventually("the relay's latency") {
                let counters = try await relay.session(session)["counters"]?["relay"]
                guard case .integer(1...)? = counters?["captureToPresentation"]?["count"] else { return nil as Bool? }
                return true
            }
        }
    }

    @Test("ends with its session, and then its sequences do")
    func end() async throws {
        try await Self.run { relay, client, link, session in
            let live = try await client.session(session).watch()
            let pictures = Self.feed(link, session)
            defer { pictures.cancel() }
            for try await _ in live.video { break }
            try await client.session(session).stop()
            for try await _ in live.video {}
            for try await _ in live.events {}
            let error = await #expect(throws: RelayError.self) { try await live.send(.releaseAll) }
            #expect(error?.kind == .closed)
        }
    }

    @Test("may be closed by many tasks at once, while others read")
    func close() async throws {
        try await Self.run { relay, client, link, session in
            let pictures = Self.feed(link, session)
            defer { pictures.cancel() }
            for _ in 0..<20 {
                let live = try await client.session(session).watch()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<3 {
                        group.addTask { for try await _ in live.video {} }
                        group.addTask { for try await _ in live.events {} }
                    }
                    for _ in 0..<4 {
                        group.addTask { live.close() }
                        group.addTask { try? await live.send(.releaseAll) }
                    }
                    try await group.waitForAll()
                }
            }
            try await relay.waitForViewers(0, of: session)
        }
    }

    @Test("ends when the program forgets it")
    func forgotten() async throws {
        try await Self.run { relay, client, link, session in
            let pictures = Self.feed(link, session)
            defer { pictures.cancel() }
            for try await _ in try await client.session(session).watch().video { break }
            try await relay.waitForViewers(0, of: session)
        }
    }
}
