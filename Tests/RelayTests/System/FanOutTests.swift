import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A session with many viewers")
struct FanOutTests {
    private static let unitSize = 16 << 10

    /// Returns the value of a metric without labels.
    private static func metric(_ name: String, of relay: RunningRelay) async throws -> Int? {
        try await relay.get("/metrics").text.split(separator: "\n")
            .first { $0.hasPrefix(name + " ") }
            .flatMap { Int($0.dropFirst(name.count + 1)) }
    }

    @Test("gives every access unit to those who read, whatever others do, whose memory is bounded")
    func manyViewers() async throws {
        try await RunningRelay.run {
            $0.viewerQueueLimits = .init(bytes: 64 << 10, pictures: 1000)
        } _: { relay in
            let session = try await relay.startSession()
            var (healthy, slow, silent): ([ByteClient], [ByteClient], [ByteClient]) = ([], [], [])
            for number in 0..<60 {
                let client = try await ByteClient(port: session.port, autoRead: number >= 6)
                switch number {
                case 0..<3: silent.append(client)
                case 3..<6: slow.append(client)
                default: healthy.append(client)
                }
            }
            try await relay.waitForViewers(60, of: session.id)
            let link = try await LinkClient(greeting: relay)
            let units = (0..<200).map { SampleStream.accessUnit($0, key: $0 % 20 == 0, size: Self.unitSize) }
            for (number, unit) in units.enumerated() {
                try await link.send([unit], session: session.id)
                for viewer in healthy {
                    let bytes = try await viewer.read(unit.bytes.count)
                    #expect(bytes == unit.bytes)
                }
                // One in ten.
                if number % 10 == 0 { for viewer in slow { try await viewer.startReading() } }
                if number % 10 == 1 { for viewer in slow { try await viewer.pause() } }
            }
            let counters = try await relay.session(session.id)["counters"]?["relay"]
            guard case .integer(let dropped) = counters?["dropped"], case .integer(let out) = counters?["picturesOut"]
            else {
                Issue.record("counters are expected")
                return
            }
            #expect(dropped > 0, "those who do not read lose pictures")
            #expect(out > healthy.count * units.count && out < 60 * units.count)
            let unread = try #require(try await Self.metric("heliograph_viewer_unread_bytes", of: relay))
            let largest = units.map(\.bytes.count).max() ?? 0
            #expect(unread > 0)
            #expect(unread <= (slow.count + silent.count) * (128 << 10 + largest), "docs/design/fanout.md")
            for viewer in healthy + slow + silent { try? await viewer.close() }
            try await relay.waitForViewers(0, of: session.id)
            #expect(try await Self.metric("heliograph_viewer_unread_bytes", of: relay) == 0)
        }
    }

    @Test("asks for one keyframe for all who join meanwhile")
    func coalesced() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["join": "live"])
            let link = try await LinkClient(greeting: relay)
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            try await relay.waitForPicture(of: session.id)
            var viewers: [ByteClient] = []
            for _ in 0..<20 { viewers.append(try await ByteClient(port: session.port)) }
            try await relay.waitForViewers(20, of: session.id)
            let request = try await link.first { if case .keyframeRequest(session.id, let id) = $0 { id } else { nil } }
            let key = SampleStream.accessUnit(1, key: true, request: request)
            try await link.send([key], session: session.id)
            for viewer in viewers { #expect(try await viewer.read(key.bytes.count) == key.bytes) }
            // Ids are consecutive, so the next one shows that there was none between.
            let next = try await relay.post("/screencapture/\(session.id)/keyframe").json["request"]
            #expect(next == .integer(Int(request) + 1))
        }
    }
}
