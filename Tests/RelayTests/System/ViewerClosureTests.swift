import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A viewer that reads nothing is closed")
struct ViewerClosureTests {
    /// Which of the two it is depends on the buffers between them.
    private static let behind: Set = ["stalled", "slow"]
    /// More than all buffers between the relay and a viewer can hold.
    private static let units = (0..<500).map { SampleStream.accessUnit($0, key: $0 % 20 == 0, size: 16 << 10) }

    /// Sends pictures to a session with one viewer that reads and one that does not, until the latter is closed.
    private func withStalled(
        _ configure: @escaping @Sendable (inout RelayConfiguration) -> Void,
        because reasons: Set<String>,
        _ connect: @escaping @Sendable (RunningRelay, SessionID, _ port: Int) async throws -> Void,
        _ check: @escaping @Sendable (RunningRelay) async throws -> Void = { _ in }
    ) async throws {
        try await RunningRelay.run {
            $0.viewerQueueLimits = .init(bytes: 64 << 10, pictures: 1000)
            configure(&$0)
        } _: { relay in
            let session = try await relay.startSession()
            let quick = try await ByteClient(port: session.port)
            try await relay.waitForViewers(1, of: session.id)
            try await connect(relay, session.id, session.port)
            try await relay.waitForViewers(2, of: session.id)
            let link = try await LinkClient(greeting: relay)
            for unit in Self.units {
                try await link.send([unit], session: session.id)
                #expect(try await quick.read(unit.bytes.count) == unit.bytes)
            }
            try await relay.waitForViewers(1, of: session.id)
            let counters = try await relay.session(session.id)["counters"]?["relay"]
            let closed = reasons.filter { counters?["viewersClosed"]?[$0] == 1 }
            #expect(closed.count == 1, "\(counters?.text ?? "")")
            let metrics = try await relay.get("/metrics").text
            for reason in closed {
                let labels = "{device=\"default\",session=\"1\",reason=\"\(reason)\"}"
                #expect(metrics.contains("heliograph_session_viewers_closed_total\(labels) 1"))
            }
            try await check(relay)
            let last = SampleStream.accessUnit(Self.units.count, key: false)
            try await link.send([last], session: session.id)
            #expect(try await quick.read(last.bytes.count) == last.bytes, "the other one goes on")
        }
    }

    @Test("on TCP, after the time that it may be late")
    func tcp() async throws {
        let stalled = Kept<ByteClient>()
        try await withStalled({ $0.viewerTimeout = .milliseconds(500) }, because: Self.behind) { relay, _, port in
            await stalled.keep(try await ByteClient(port: port, autoRead: false))
        } _: { _ in
            let client = try await stalled.value
            try await client.startReading()
            let bytes = try await client.readToEnd()
            #expect(!bytes.isEmpty, "what was on its way comes before the end")
        }
    }

    @Test("on HTTP, after that time", arguments: ["stream.h264", "stream.ts"])
    func http(path: String) async throws {
        let stalled = Kept<ByteClient>()
        try await withStalled({ $0.viewerTimeout = .milliseconds(500) }, because: Self.behind) { relay, session, _ in
            let client = try await ByteClient(port: relay.ports.http, autoRead: false)
            try await client.send(
                Array("GET /screencapture/\(session)/\(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
            )
            await stalled.keep(client)
        } _: { _ in
            let client = try await stalled.value
            try await client.startReading()
            let answer = try await client.readToEnd()
            #expect(!answer.suffix(7).elementsEqual("\r\n0\r\n\r\n".utf8), "it was cut off, and a client can tell")
        }
    }

    @Test("on a WebSocket, and is told why by an event and the Close")
    func webSocket() async throws {
        let stalled = Kept<WebSocketClient>()
        try await withStalled(
            {
                $0.viewerTimeout = .milliseconds(500)
                $0.webSocket.closeTimeout = .seconds(60)
            },
            because: Self.behind
        ) { relay, session, _ in
            let client = try await WebSocketClient(relay, session: session)
            try await client.pause()
            await stalled.keep(client)
        } _: { _ in
            let client = try await stalled.value
            try await client.startReading()
            let end = try await client.event("end")
            #expect([.string("stalled"), .string("slow")].contains(end["reason"]))
            #expect(try await client.closeCode() == 4001)
        }
    }

    @Test("when all together hold more than the relay allows")
    func memory() async throws {
        let stalled = Kept<ByteClient>()
        try await withStalled(
            {
                $0.viewerTimeout = nil
                $0.viewerMemory = 100 << 10
            },
            because: ["memory"]
        ) { _, _, port in
            await stalled.keep(try await ByteClient(port: port, autoRead: false))
        }
    }
}

/// A value that one part of a test creates and another uses.
private actor Kept<Value: Sendable> {
    private var kept: Value?

    func keep(_ value: Value) { kept = value }

    var value: Value {
        get throws { try #require(kept) }
    }
}
