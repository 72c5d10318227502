import HeliographAPI
import Media
import NIOCore
import Packaging
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("A viewer on a WebSocket in MP4")
struct WebSocketContainerTests {
    private static func accessUnits(_ width: Int, from first: Int) throws -> [AccessUnit] {
        let size = PictureSize(width: width, height: 64)
        let source = try SourceStream(SourceSettings(name: "x264", size: size, keyframes: [0], pictures: 5))
        return source.accessUnits.enumerated().map { index, bytes in
            var unit = SampleStream.accessUnit(first + index, key: index == 0)
            unit.size = size
            unit.bytes = bytes
            return unit
        }
    }

    /// Returns the binary messages, with the first byte split off.
    private func next(_ viewer: WebSocketClient) async throws -> [UInt8] {
        try await viewer.first("a binary message") { $0.opcode == WebSocketClient.Opcode.binary ? $0.payload : nil }
    }

    @Test("gets the initialization segment in each configuration, and a fragment for each picture")
    func fragments() async throws {
        let units = try Self.accessUnits(96, from: 0) + Self.accessUnits(128, from: 5)
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let agent = try await LinkClient(greeting: relay)
            let viewer = try await WebSocketClient(
                port: relay.ports.http,
                path: "/screencapture/\(session.id)/ws?join=cache&container=mp4"
            )
            #expect(viewer.wasUpgraded)
            try await relay.waitForViewers(1, of: session.id)
            try await agent.send(units, session: session.id)
            var fragments = FragmentedMP4(codec: .h264, fps: 30)
            for unit in units {
                let fragment = try fragments.fragment(unit)
                if fragment.changesInitialization {
                    let initialization = try #require(fragments.initialization)
                    let configuration = try await next(viewer)
                    #expect(configuration[0] == 1)
                    let codec = Array(initialization.codecs.utf8)
                    #expect(
                        Array(configuration.dropFirst(12)) == [0, UInt8(codec.count)] + codec + initialization.bytes
                    )
                }
                let picture = try await next(viewer)
                #expect(picture[0] == 2)
                #expect(Array(picture.dropFirst(UnitMessage.headByteCount)) == fragment.bytes)
            }
            try await viewer.close()
        }
    }

    @Test("another container is refused by a problem", arguments: ["ts", "", "mp4&container=ts"])
    func unknown(_ container: String) async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let path = "/screencapture/\(session.id)/ws?container=\(container)"
            let client = try await WebSocketClient(port: relay.ports.http, path: path)
            #expect(client.answer.hasPrefix("HTTP/1.1 400 "))
            let body = try await client.read(until: "}")
            #expect(body.contains("\"code\":\"unknown_value\""))
            #expect(body.contains("\"field\":\"container\""))
        }
    }

    @Test("what it says it presented stands in the session's latencies, and what cannot be is counted")
    func acknowledgements() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let agent = try await LinkClient(greeting: relay)
            let viewer = try await WebSocketClient(relay, session: session.id)
            try await relay.waitForViewers(1, of: session.id)
            for index in 0..<2 {
                var unit = SampleStream.accessUnit(index, key: index == 0)
                unit.captured = NIODeadline.now().uptimeNanoseconds
                (unit.encodeStart, unit.encodeEnd) = (unit.captured, unit.captured)
                try await agent.send([unit], session: session.id)
                _ = try await viewer.first("the picture") { $0.payload.first == 2 ? true : nil }
                let presented = index == 0 ? Int(NIODeadline.now().uptimeNanoseconds) : 7
                try await viewer.send(#"{"type":"ack","pts":\#(unit.pts),"presented":\#(presented)}"#)
            }
            let status = try await eventually("the acknowledgements") {
                let status = try await relay.session(session.id)
                if status["counters"]?["relay"]?["presentationsRefused"] == 1 { return status }
                return nil
            }
            let latency = try #require(status["latency"])
            #expect(latency["captureToPresentation"]?["count"] == 1)
            for stage in ["wait", "encode", "link", "captureToRelay", "handover"] {
                #expect(latency[stage]?["count"] == 2, "\(stage)")
            }
            let metrics = try await relay.get("/metrics").text
            #expect(
                metrics.contains(
                    "heliograph_session_capture_to_presentation_seconds_count{device=\"default\",session=\"1\"} 1"
                )
            )
            #expect(metrics.contains("heliograph_session_handover_seconds_count{device=\"default\",session=\"1\"} 2"))
            #expect(
                metrics.contains("heliograph_session_presentations_refused_total{device=\"default\",session=\"1\"} 1")
            )
        }
    }
}
