import HeliographAPI
import Media
import Packaging
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

/// Tests of units that an admitted agent may send as access units but that do not belong in a stream.
@Suite("An access unit that does not begin with a NAL unit, or has too many")
struct MalformedUnitTests {
    /// A unit that the relay must discard, with its description in the tests' names.
    struct Sample: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
    }

    private static let samples = [
        Sample(testDescription: "no start code", bytes: [0x41, 0x9A, 0x22, 0x8B]),
        Sample(testDescription: "a start code alone", bytes: [0, 0, 0, 1]),
        Sample(testDescription: "one zero before the 1", bytes: [0, 1, 0x41, 0x9A]),
        Sample(testDescription: "a forbidden bit", bytes: [0, 0, 0, 1, 0xC1, 0x9A]),
        Sample(testDescription: "an unspecified type", bytes: [0, 0, 0, 1, 0x58, 0x9A]),
        Sample(
            testDescription: "1025 NAL units",
            bytes: [[UInt8]](repeating: [0, 0, 1, 0x41, 0x9A], count: 1025).flatMap(\.self)
        ),
    ]

    @Test(
        "is discarded and counted, and its session continues at a keyframe in every format",
        arguments: samples
    )
    func isDiscarded(_ sample: Sample) async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let viewers = try await Self.viewers(of: session, relay)
            let link = try await LinkClient(greeting: relay)
            var unit = SampleStream.accessUnit(4, key: false)
            unit.bytes = sample.bytes
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            // In one segment, as they may arrive.
            let units = (0...3).map { SampleStream.accessUnit($0, key: $0 == 0) }
            let rest = units[1...] + [unit]
            try await link.send(bytes: rest.flatMap { Packet.accessUnit(session.id, $0).encoded() })
            let request = try await link.first {
                if case .keyframeRequest(session.id, let id) = $0 { id } else { nil }
            }
            // Pictures that refer to it are not for viewers, either.
            try await link.send([SampleStream.accessUnit(5, key: false)], session: session.id)
            let keyframe = SampleStream.accessUnit(6, key: true, request: request)
            try await link.send(
                bytes: [keyframe, SampleStream.accessUnit(7, key: false)].flatMap {
                    Packet.accessUnit(session.id, $0).encoded()
                }
            )
            let counters = try await eventually("the keyframe") { () -> JSONValue? in
                let counters = try await relay.session(session.id)["counters"]?["relay"]
                return counters?["pictures"] == 6 ? counters : nil
            }
            #expect(counters["discarded"] == 1)
            let metrics = try await relay.get("/metrics").text
            let metric = "heliograph_link_malformed_units_total{device=\"default\",role=\"primary\"} 1\n"
            #expect(metrics.contains(metric))
            #expect(try await relay.broadcast()["link"]?["reconnects"] == 0)
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            let tcp = try await viewers[0].readToEnd()
            #expect(tcp == (units + [keyframe, SampleStream.accessUnit(7, key: false)]).flatMap(\.bytes))
            for viewer in viewers.dropFirst() { #expect(try await !viewer.readToEnd().isEmpty) }
        }
    }

    /// One viewer on the session's port, then one of each format over HTTP.
    private static func viewers(of session: (id: SessionID, port: Int), _ relay: RunningRelay) async throws
        -> [ByteClient]
    {
        var viewers = [try await ByteClient(port: session.port)]
        for format in ["h264", "ts", "mp4"] {
            let viewer = try await ByteClient(port: relay.ports.http)
            let request = "GET /screencapture/\(session.id)/stream.\(format) HTTP/1.1\r\nHost: localhost\r\n\r\n"
            try await viewer.send(Array(request.utf8))
            viewers.append(viewer)
        }
        try await relay.waitForViewers(viewers.count, of: session.id)
        return viewers
    }

    @Test("again and again leaves the agent owing pictures: the standby takes over")
    func nothingElse() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let agent = try await LinkClient(greeting: relay)
            let standby = try await LinkClient(greeting: relay, pid: 4712, role: .standby)
            try await agent.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            try await relay.waitForPicture(of: session.id)
            var unit = SampleStream.accessUnit(1, key: false)
            unit.bytes = [1, 2, 3]
            let malformed = unit
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for number in 2... {
                        try await agent.send([malformed], session: session.id)
                        try await agent.send([SampleStream.accessUnit(number, key: false)], session: session.id)
                        try await Task.sleep(for: .milliseconds(20))
                    }
                }
                try await standby.send([SampleStream.accessUnit(1, key: true)], session: session.id)
                _ = try await eventually("the standby's picture") { () -> Bool? in
                    try await relay.session(session.id)["feed"] == "standby" ? true : nil
                }
                group.cancelAll()
            }
            #expect(try await relay.session(session.id)["switchCauses"]?["no_pictures"] == 1)
        }
    }
}
